import { errorText } from "../../infra/errors.ts";
import type { Cli } from "../cli.ts";
import type { DoctorFlags } from "../commands/doctor.ts";
import { readConfig } from "../config-access.ts";
import { shortenHome } from "../format.ts";
import type { Check, Problem, Repair } from "./check.ts";
import { configChecks } from "./config-checks.ts";
import { gatewayChecks } from "./gateway-checks.ts";
import { sandboxChecks } from "./sandbox-checks.ts";
import { stateChecks } from "./state-checks.ts";

const CHECKS: readonly Check[] = [...configChecks, ...stateChecks, ...sandboxChecks, ...gatewayChecks];

/** Spec: cli-and-ui §5. Exit 1 when something that does not work remains. */
export async function runDoctor(cli: Cli, flags: DoctorFlags): Promise<void> {
  const allows = (repair: Repair): boolean => flags.fix === true || flags.repair === true || flags.yes === true || (flags.nonInteractive === true && repair.kind === "safe");
  const before = await readConfig(cli);
  let open = 0;
  let repairable = 0;
  let repaired = 0;
  for (const check of CHECKS) {
    // A repair may have changed the file, so each check reads it anew.
    const snapshot = await readConfig(cli);
    if (check.needsConfig && !snapshot.valid) continue;
    const lines: string[] = [];
    for (const problem of await findProblems(check, { cli, snapshot })) {
      const may = problem.repair && (allows(problem.repair) || (flags.generateGatewayToken === true && check.title === "Gateway auth"));
      if (problem.repair && may) {
        try {
          lines.push(...(await problem.repair.run()).map((done) => cli.paint("success", `✓ ${done}`)));
          repaired++;
          continue;
        } catch (err) {
          lines.push(cli.paint("error", `✗ ${problem.text} (repair failed: ${errorText(err)})`));
          open++;
          continue;
        }
      }
      if (problem.severity === "error") open++;
      if (problem.repair) repairable++;
      lines.push(paintProblem(cli, problem));
    }
    cli.print(`${cli.paint.bold(check.title)}: ${lines.length === 0 ? cli.paint("success", "ok") : ""}`.trimEnd());
    for (const line of lines) cli.print(`  ${line.replaceAll("\n", "\n    ")}`);
  }
  const after = await readConfig(cli);
  if (after.hash !== before.hash) {
    cli.print(`Updated ${shortenHome(after.path, cli.paths.home)}`);
    if (before.exists) cli.print(`Backup: ${shortenHome(after.path, cli.paths.home)}.bak`);
  }
  if (repairable > 0) cli.print('Run "openclaw doctor --fix" to apply changes.');
  cli.print(`Doctor complete.${repaired > 0 ? ` Repaired: ${repaired}.` : ""}${open > 0 ? ` Open: ${open}.` : ""}`);
  if (open > 0) cli.exitCode = 1;
}

/** A check that fails says so and does not stop the others. */
async function findProblems(check: Check, input: Parameters<Check["find"]>[0]): Promise<readonly Problem[]> {
  try {
    return await check.find(input);
  } catch (err) {
    return [{ severity: "error", text: `could not be checked: ${errorText(err)}` }];
  }
}

function paintProblem(cli: Cli, { severity, text }: Problem): string {
  if (severity === "error") return cli.paint("error", `✗ ${text}`);
  return severity === "warn" ? cli.paint("warn", `! ${text}`) : cli.paint("muted", `· ${text}`);
}
