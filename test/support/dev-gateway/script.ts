/** What the pretended assistant does with a message: texts in small pieces, tools between them. */
export type Step =
  | { readonly kind: "text"; readonly text: string; readonly everyMs?: number }
  | { readonly kind: "think"; readonly text: string }
  | { readonly kind: "tool"; readonly name: string; readonly args: Record<string, unknown>; readonly result: string; readonly ms: number; readonly isError?: boolean }
  | { readonly kind: "hold" }
  | { readonly kind: "fail"; readonly message: string };

export const TOUR = `## What I found

Your workspace holds **3 files**. Here is a short summary:

| File | Size | Changed |
|:-----|-----:|:-------:|
| AGENTS.md | 2.1 KB | today |
| SOUL.md | 1.4 KB | today |
| notes.txt | 312 B | yesterday |

1. \`AGENTS.md\` says how I work.
2. \`SOUL.md\` is who I am.

\`\`\`ts
export const greet = (name: string): string => \`Hello, \${name}!\`;
\`\`\`

> Ask me to open any of them. See [the docs](https://docs.example.com) for more.`;

export const XSS = `<img src=x onerror="window.__pwned=1"> <script>window.__pwned=2</script>

[click](javascript:window.__pwned=3) [data](data:text/html,<script>window.__pwned=4</script>)

![pixel](https://tracker.example.net/pixel.png) <svg onload="window.__pwned=5"></svg>

<a href="#" onclick="window.__pwned=6">x</a> <style>body{display:none}</style> <iframe srcdoc="<script>parent.__pwned=7</script>"></iframe>`;

export function scriptFor(message: string): readonly Step[] {
  const text = message.toLowerCase();
  if (text.startsWith("/status")) return [{ kind: "text", text: "OpenClaw: model mock/gpt-4o, context 1k/128k.", everyMs: 0 }];
  if (text.includes("tool")) {
    return [
      { kind: "text", text: "Let me look." },
      { kind: "tool", name: "exec", args: { command: "ls -la" }, result: "total 3\nAGENTS.md\nSOUL.md\nnotes.txt", ms: 600 },
      { kind: "tool", name: "read", args: { path: "missing.txt" }, result: "ENOENT: no such file", ms: 40, isError: true },
      { kind: "text", text: "There are three files." },
    ];
  }
  if (text.includes("tour")) return [{ kind: "think", text: "The user wants a summary. I list the files first." }, { kind: "tool", name: "exec", args: { command: "ls -la ~/.openclaw/workspace" }, result: "AGENTS.md SOUL.md notes.txt", ms: 80 }, { kind: "text", text: TOUR, everyMs: 5 }];
  if (text.includes("hold")) return [{ kind: "text", text: "One two three" }, { kind: "hold" }];
  if (text.includes("attack")) return [{ kind: "text", text: XSS, everyMs: 5 }];
  if (text.includes("fail")) return [{ kind: "fail", message: "HTTP 401: invalid api key" }];
  if (text.includes("long")) return [{ kind: "text", text: Array.from({ length: 60 }, (_, i) => `Paragraph ${i + 1} of a long answer that fills the page.`).join("\n\n"), everyMs: 10 }];
  return [{ kind: "text", text: `pong: ${message}` }];
}
