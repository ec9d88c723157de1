import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { analyzeCommand, judgeAllowlist, pathsToRemember, rebuildCommand } from "./analyze.ts";
import type { Surroundings } from "./resolve-executable.ts";
import { DEFAULT_SAFE_BINS } from "./safe-bins.ts";
import { quoteWord, splitCommand } from "./split-command.ts";

let dir: string;
let place: Surroundings;
beforeAll(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "analyze-")));
  mkdirSync(join(dir, "bin"));
  for (const name of ["tool", "other", "busybox", "a.b", "axb", "c++"]) {
    writeFileSync(join(dir, "bin", name), `#!/bin/sh\nfor word in "$@"; do printf '%s\\n' "$word"; done\n`);
    chmodSync(join(dir, "bin", name), 0o755);
  }
  symlinkSync(join(dir, "bin", "busybox"), join(dir, "bin", "applet"));
  symlinkSync("/usr/bin/env", join(dir, "bin", "harmless"));
  symlinkSync(join(dir, "bin", "tool"), join(dir, "alias"));
  place = { cwd: dir, path: `${join(dir, "bin")}:/usr/local/bin:/usr/bin:/bin`, home: dir, platform: "linux" };
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const judge = (command: string, patterns: readonly string[] = [], bins: readonly string[] = [], trustedDirs: readonly string[] = []) =>
  judgeAllowlist(analyzeCommand(command, place), { patterns, safeBins: { bins, trustedDirs, profiles: {} } }, place);
const passes = (command: string, ...patterns: string[]): boolean => judge(command, patterns).satisfied;
const ECHO = ["/bin/echo", "/usr/bin/echo"];

describe("with only echo on the allow-list", () => {
  it.each(["echo hi", "/bin/echo hi", "/bin/../bin/echo hi", "echo a && echo b", "echo a; echo b | echo c", "echo 'a;id' \"b|c\" \\;", "echo $HOME *", "echo '$(id)' '`id`' '>' '<'"])("%s runs", (command) => {
    expect(judge(command, ECHO)).toMatchObject({ satisfied: true });
  });

  it.each([
    "echo $(id)", 'echo "`id`"', "echo `id`", 'echo "$(id)"', "env -S 'sh -c id'", "env X=1 echo", "X=1 echo hi", "busybox sh -c id", "sh -c 'echo hi'", "bash -lc echo", "echo a;id", "echo a\\\n;id", "echo a\nid", "echo a\rid",
    "echo a & id", "echo a|id", "echo a |& id", "echo a > f", "echo a >> f", "echo < f", "echo <(id)", "cat <<E\n$(id)\nE", "echo <<< x", "(echo a)", "{ echo a; }", "echo ${x:-$(id)}", "echo $'\\x61'", "echo # id", "echo \"unterminated", "echo 'x",
    "nice echo", "time echo", "nohup echo", "timeout 5 echo", "stdbuf -o0 echo", "sudo echo", "doas echo", "xargs echo", "setsid echo", "taskset 1 echo", "chrt 1 echo", "ionice echo", "flock f echo", "script -c echo", "watch echo",
    "./echo", "~/echo", "ECHO hi", "echo\u00A0hi; id", "\u0435cho hi", "echo\u200B hi", "echo \u202Ehi", "e\\\ncho", "", ";", "&&", "echo &&", "| echo", "echo ;; id", "echo a\u0000b", "eval echo", ". echo", "command echo", "exec echo", "builtin echo", "alias x=echo",
  ])("%j does not", (command) => {
    expect(judge(command, ECHO).satisfied).toBe(false);
  });

  it("wrappers pass when they and what they run are both named", () => {
    const both = [...ECHO, "/usr/bin/nice", "/usr/bin/nohup", "/usr/bin/timeout", "/usr/bin/stdbuf", "/usr/bin/env"];
    for (const command of ["nice echo", "nice -n 5 echo", "nice -5 nohup echo", "timeout -k 1s --signal=TERM 5 echo", "stdbuf -oL -e 0 echo", "env echo", "env -- echo", "nice nohup nice nohup echo"]) expect([command, passes(command, ...both)]).toEqual([command, true]);
    for (const command of ["nice nohup nice nohup nice echo", "nice --unknown echo", "timeout --foregroundx 5 echo", "env -i echo", "env -u X echo", "env A=1 echo", "nice id", "env -S 'echo id'", "nice -n 5 sh -c id", "nohup"]) expect([command, passes(command, ...both)]).toEqual([command, false]);
  });
});

describe("interpreters", () => {
  const all = ["*"];
  it.each([
    "sh -c id", "bash -lc id", "bash", "bash -s", "bash -i", "bash --rcfile x y.sh", "bash -O extglob -c id", "python3 -c pass", "python3 -m http.server", "python3 -W ignore -c pass", "python3 -", "python3 /dev/stdin", "perl -e 1", "perl -ne 1 x", "perl -Mstrict x.pl",
    "awk 'BEGIN{system(\"id\")}'", "sed -n 1p x", "find . -exec id {} +", "find . -delete", "tar -I id -xf x", "tar --to-command=id -xf x", "tar --checkpoint-action=exec=id x", "sort --compress-prog=id", "xargs id", "make SHELL=id", "harmless X=1 id", "harmless -S id",
  ])("%s is asked about even where everything is allowed", (command) => {
    expect(judge(command, all).satisfied).toBe(false);
  });

  it.each(["python3 -u x.py -c", "bash x.sh", "perl x.pl -e", "find . -name x", "bash -eu x.sh", "python3 --version"])("%s runs where its program is named", (command) => {
    const analysis = analyzeCommand(command, place);
    if (analysis.kind === "parts" && analysis.parts[0]?.programs.length === 0) return; // not installed here
    expect(judge(command, all).satisfied).toBe(true);
  });
});

describe("patterns", () => {
  const tool = (): string => join(dir, "bin", "tool");
  it("names whole paths, with * inside a part, ** across parts and ? for one character", () => {
    for (const pattern of [tool(), `${dir}/bin/*`, `${dir}/**`, `${dir}/bin/too?`, `${dir}/**/tool`, "~/bin/tool", `${dir}/*/tool`, "*"]) expect([pattern, passes("tool", pattern)]).toEqual([pattern, true]);
    for (const pattern of ["tool", "t*", `${dir}/*`, `${dir}/bin/to`, `${dir}/bin/TOOL`, "/bin/tool", "bin/tool", "**tool"]) expect([pattern, passes("tool", pattern)]).toEqual([pattern, false]);
  });

  it("every other character means itself", () => {
    expect([passes("axb", join(dir, "bin", "a.b")), passes("a.b", join(dir, "bin", "a.b")), passes("c++", join(dir, "bin", "c++"))]).toEqual([false, true, true]);
  });

  it("follow links: the file behind one is what counts", () => {
    expect(passes(join(dir, "alias"), tool())).toBe(true);
    expect(passes("tool", join(dir, "alias"))).toBe(true);
    expect(passes("harmless tool", `${dir}/bin/*`)).toBe(false);
  });

  it("a multi-call binary is allowed name by name", () => {
    expect([passes("applet", join(dir, "bin", "busybox")), passes("applet", join(dir, "bin", "applet")), passes("busybox sh", `${dir}/bin/*`)]).toEqual([false, true, false]);
  });

  it("are never wider than their characters (any text)", () => {
    fc.assert(fc.property(fc.string({ minLength: 1, maxLength: 20 }).filter((text) => !/[*?~\\]/.test(text)), (text) => {
      expect(passes("tool", `/${text}`)).toBe(false);
    }));
  });
});

describe("safe bins", () => {
  const safe = (command: string, bins: readonly string[] = DEFAULT_SAFE_BINS): boolean => judge(command, [], bins).satisfied;
  it.each(["head -n 5", "head -5", "tail --lines=3", "wc -l", "cut -d, -f1", "cut -d / -f 2", "uniq -c", "tr a-z A-Z", "tr -d /", "head | tail | wc -c"])("%s needs no entry", (command) => {
    expect(safe(command)).toBe(true);
  });
  it.each([
    "head /etc/passwd", "head -n 5 file", "tail -f", "tail -n 5 ../x", "wc --files0-from=x", "wc -l *", "cut --output-delimiter=/etc/x x", "head --lin=5", "tr", "tr a b c", "uniq in out", "head -c", "head --bytes", "./head", "cut -d: /etc/passwd", "head -- x", "wc --help; id",
    "sort -o x", "grep x y",
  ])("%s does", (command) => {
    expect(safe(command)).toBe(false);
  });
  it("grep and sort only as filters, when they are added", () => {
    const bins = ["grep", "sort", "jq"];
    for (const command of ["grep -e foo", "grep -i -e foo -m 1", "sort -n -k 2", "sort -t, -u"]) expect([command, safe(command, bins)]).toEqual([command, true]);
    for (const command of ["grep foo", "grep -f x -e y", "grep -r -e x", "grep -e x file", "sort --compress-prog=id", "sort --compress-program id", "sort -o out", "sort --outp=x", "sort -T /tmp", "sort --files0-from=x", "sort -oout", "grep --fil=x"]) expect([command, safe(command, bins)]).toEqual([command, false]);
  });
  it("must lie in a folder that is trusted", () => {
    const bins = { bins: ["tool"], profiles: { tool: { maxPositional: 1 } } };
    const verdict = (trustedDirs: string[]): boolean => judgeAllowlist(analyzeCommand("tool x", place), { patterns: [], safeBins: { ...bins, trustedDirs } }, place).satisfied;
    expect([verdict([]), verdict([join(dir, "bin")])]).toEqual([false, true]);
  });
});

describe("always", () => {
  it.each([
    ["tool a | other b", ["tool", "other"]], ["sh -c 'tool; other'", ["tool", "other"]], ["nice tool", ["nice", "tool"]], ["python3 x.py", []], ["bash x.sh", []], ["sh -c 'python3 -c 1; tool'", ["tool"]], ["tool $(other)", []], ["sudo tool", []], ["env X=1 tool", []],
  ])("%s stores %j", (command, names) => {
    expect(pathsToRemember(command, place).map((path) => path.split("/").at(-1))).toEqual(names);
  });
});

describe("what runs is what was judged", () => {
  const run = (command: string): string => execFileSync("/bin/sh", ["-c", command], { cwd: dir, env: { PATH: "/usr/bin:/bin", HOME: dir }, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

  it("quoted words come through a shell unchanged (any text)", () => {
    fc.assert(fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 12 }).map((text) => text.replaceAll("\0", "")), { minLength: 1, maxLength: 4 }), (words) => {
      expect(run(`printf '%s\\0' ${words.map(quoteWord).join(" ")}`)).toBe(words.map((word) => `${word}\0`).join(""));
    }), { numRuns: 30 });
  });

  const shellish = fc.array(fc.constantFrom(
    "tool", "other", "a", "b", " ", "  ", "'", '"', "\\", "$", "$(", "${", ")", "(", "`", ";", "&", "&&", "|", "||", "\n", "<", ">", "<<E", "#", "*", "?", "~", "=", "touch evil", "$'\\x3b'", "{", "}", "!", "\t", "\r", "\u00A0", "\u2028", "X=1", "env", "sh -c", "exec", "eval", "--", "-c",
  ), { minLength: 1, maxLength: 14 }).map((parts) => parts.join(""));

  it("no composition of shell syntax runs anything but the tool that is allowed", () => {
    const evil = join(dir, "evil");
    fc.assert(fc.property(shellish, (text) => {
      const analysis = analyzeCommand(`tool ${text}`, place);
      const verdict = judgeAllowlist(analysis, { patterns: [join(dir, "bin", "tool")], safeBins: { bins: [], trustedDirs: [], profiles: {} } }, place);
      if (!verdict.satisfied || analysis.kind === "unknown") return;
      const expected = analysis.parts.flatMap(({ part }) => part.argv.slice(1));
      const rebuilt = rebuildCommand(analysis.parts);
      const isPlain = analysis.parts.every(({ part }) => part.after === undefined || part.after === "&&" || part.after === ";");
      const output = run(rebuilt);
      if (isPlain) expect(output).toBe(expected.map((word) => `${word}\n`).join(""));
      expect(existsSync(evil)).toBe(false);
    }), { numRuns: 300 });
  });

  it("splitting never throws, and words of a plain command are found again (any text)", () => {
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => void splitCommand(text)));
    fc.assert(fc.property(fc.array(fc.string({ maxLength: 10 }).filter((word) => /^[\x20-\x7e]*$/.test(word)), { minLength: 1, maxLength: 5 }), (words) => {
      const split = splitCommand(words.map(quoteWord).join(" "));
      expect(split).toEqual({ kind: "parts", parts: [{ argv: words }] });
    }));
  });
});
