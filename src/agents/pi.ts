/**
 * The one seam to the Pi SDK: about 200 ms and 40 MB, so it is loaded on first use and warmed when the gateway is idle.
 * Types are imported with `import type` elsewhere.
 */
export interface PiModules {
  readonly codingAgent: typeof import("@mariozechner/pi-coding-agent");
  readonly ai: typeof import("@mariozechner/pi-ai");
}

export async function loadPi(): Promise<PiModules> {
  const [codingAgent, ai] = await Promise.all([import("@mariozechner/pi-coding-agent"), import("@mariozechner/pi-ai")]);
  return { codingAgent, ai };
}
