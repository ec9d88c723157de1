import { resolveGatewayPort } from "../../config/index.ts";
import { errorText } from "../../infra/errors.ts";
import { isLockOwnerAlive, readLockOwner } from "../../infra/file-lock.ts";
import { instanceLockPath } from "../../infra/instance-lock.ts";
import { describePortOwners, findPortOwners } from "../../infra/port-owner.ts";
import { resolveDefaultAgentId } from "../../routing/index.ts";
import { openModels } from "../library.ts";
import { fieldsOf, rowsOf, textOf } from "../read.ts";
import { connect } from "../rpc.ts";
import type { Check, CheckInput, Problem } from "./check.ts";

async function findPort({ cli, snapshot }: CheckInput): Promise<readonly Problem[]> {
  if (snapshot.config.gateway?.mode === "remote") return [];
  const { port } = resolveGatewayPort(undefined, snapshot.env.vars, snapshot.config);
  const owners = await findPortOwners(port);
  if (owners.length === 0) return [];
  const lock = await readLockOwner(instanceLockPath(cli.paths.configPath)).catch(() => undefined);
  const isOurs = lock !== undefined && (await isLockOwnerAlive(lock)) && owners.some((owner) => owner.pid === lock.pid);
  return isOurs ? [] : [{ severity: "error", text: describePortOwners(port, owners).join("\n") }];
}

async function findGateway({ cli, snapshot }: CheckInput): Promise<readonly Problem[]> {
  let status: Readonly<Record<string, unknown>>;
  try {
    const client = await connect(cli, { timeout: 5000 }, snapshot);
    try {
      status = fieldsOf(await client.request("status", {}));
    } finally {
      client.close();
    }
  } catch (err) {
    const [reason] = errorText(err).split("\n");
    return [{ severity: "warn", text: `${reason}\nStart it with \`openclaw gateway\`.` }];
  }
  const issues = rowsOf(status["channelIssues"]).map((issue): Problem => ({ severity: "warn", text: `${textOf(issue["channel"])} ${textOf(issue["accountId"])}: ${textOf(issue["message"])}${issue["fix"] ? `\n${textOf(issue["fix"])}` : ""}` }));
  const failed = rowsOf(fieldsOf(status["delivery"])["failed"]);
  const broken = fieldsOf(status["configError"]);
  return [
    ...(status["configError"] ? [{ severity: "error" as const, text: `The gateway runs on the last good config; the file is broken: ${[broken["path"], broken["message"]].map((part) => textOf(part)).filter((part) => part !== "").join(" ")}` }] : []),
    ...issues,
    ...(failed.length > 0 ? [{ severity: "warn" as const, text: `${failed.length} messages could not be delivered lately (see \`openclaw logs\`)` }] : []),
  ];
}

async function findModel({ cli, snapshot }: CheckInput): Promise<readonly Problem[]> {
  const models = await openModels(cli, snapshot);
  try {
    const agentId = resolveDefaultAgentId(snapshot.config);
    const { ref, source, reason } = await models.selectDefault(agentId);
    if (source === "offline") return [{ severity: "warn", text: `${reason} Set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY, or \`openclaw models set <provider/model>\`.` }];
    const { problemOf } = await import("../commands/models-run.ts");
    const problem = await problemOf(models, ref, agentId);
    return problem ? [{ severity: "error", text: `${problem.message}\n${problem.fix}` }] : [];
  } finally {
    models.close();
  }
}

export const gatewayChecks: readonly Check[] = [
  { title: "Port", find: findPort },
  { title: "Gateway", find: findGateway },
  { title: "Model", needsConfig: true, find: findModel },
];
