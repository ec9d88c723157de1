const FENCE = /^[ \t]*(```+|~~~+)(.*)$/;

/** Pieces of at most `limit` UTF-16 units, cut at line ends where possible; a code block goes on in the next piece. */
export function splitText(text: string, limit: number): string[] {
  const pieces: string[] = [];
  let current = "";
  let fence: { readonly open: string; readonly close: string } | undefined;
  const room = (): number => limit - (fence ? fence.close.length + 1 : 0);
  const flush = (): void => {
    if (current.trim() !== "") pieces.push(fence ? `${current}\n${fence.close}` : current);
    current = fence ? fence.open : "";
  };
  for (const line of text.split("\n")) {
    let rest = line;
    const mark = FENCE.exec(line);
    if (current !== "" && current.length + 1 + rest.length > room()) flush();
    while ((current === "" ? 0 : current.length + 1) + rest.length > room()) {
      const space = Math.max(1, room() - (current === "" ? 0 : current.length + 1));
      const cut = isLowSurrogate(rest.charCodeAt(space)) && space > 1 ? space - 1 : space;
      current = current === "" ? rest.slice(0, cut) : `${current}\n${rest.slice(0, cut)}`;
      rest = rest.slice(cut);
      flush();
    }
    current = current === "" ? rest : `${current}\n${rest}`;
    const [, marker = ""] = mark ?? [];
    if (!mark || line.length > 100) continue;
    fence = fence ? (marker.startsWith(fence.close) ? undefined : fence) : { open: line, close: marker };
  }
  if (current.trim() !== "" && !(pieces.length > 0 && fence?.open === current)) pieces.push(current);
  return pieces;
}

const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
