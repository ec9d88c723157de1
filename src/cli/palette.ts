/** Colours of the terminal (spec: cli-and-ui §3). */
const COLORS = {
  accent: "#FF5A2D",
  accentBright: "#FF7A3D",
  accentDim: "#D14A22",
  info: "#FF8A5B",
  success: "#2FBF71",
  warn: "#FFB020",
  error: "#E23D2D",
  muted: "#8B7F77",
} as const;

export type Color = keyof typeof COLORS;

export interface Painter {
  readonly enabled: boolean;
  (color: Color, text: string): string;
  bold(text: string): string;
}

/** Colours only where a person looks: a terminal, without NO_COLOR; FORCE_COLOR overrides both. */
export function wantsColor(isTty: boolean, env: Readonly<Record<string, string | undefined>>, noColorFlag: boolean): boolean {
  if (noColorFlag) return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return isTty && !env["NO_COLOR"] && env["TERM"] !== "dumb";
}

export function createPainter(enabled: boolean): Painter {
  const wrap = (codes: string, text: string): string => (enabled && text !== "" ? `\u001B[${codes}m${text}\u001B[0m` : text);
  const paint = (color: Color, text: string): string => {
    const rgb = Number.parseInt(COLORS[color].slice(1), 16);
    return wrap(`38;2;${rgb >> 16};${(rgb >> 8) & 255};${rgb & 255}`, text);
  };
  return Object.assign(paint, { enabled, bold: (text: string) => wrap("1", text) });
}
