import { formatModelRef, ModelError, type ModelService } from "../../agents/index.ts";
import type { ConfigSnapshot } from "../../config/index.ts";
import { isKnownAgentId, resolveAgent, resolveDefaultAgentId } from "../../routing/index.ts";
import type { Cli } from "../cli.ts";
import { createWriter, requireConfig } from "../config-access.ts";
import { CliError } from "../errors.ts";
import { formatCount } from "../format.ts";
import { agentRoots, openModels } from "../library.ts";
import { fieldsOf, rowsOf, textOf } from "../read.ts";
import { connect } from "../rpc.ts";
import { renderTable } from "../table.ts";

type ModelKey = "model" | "imageModel";

interface Choice {
  readonly primary: string | undefined;
  readonly fallbacks: readonly string[];
}

/** `agents.defaults.model` is a text or {primary, fallbacks}. */
function choiceOf(snapshot: ConfigSnapshot, key: ModelKey): Choice {
  const value = snapshot.config.agents?.defaults?.[key];
  if (typeof value === "string") return { primary: value, fallbacks: [] };
  return { primary: value?.primary, fallbacks: value?.fallbacks ?? [] };
}

async function withModels<T>(cli: Cli, work: (models: ModelService, snapshot: ConfigSnapshot) => Promise<T>): Promise<T> {
  const snapshot = await requireConfig(cli);
  const models = await openModels(cli, snapshot);
  try {
    return await work(models, snapshot);
  } finally {
    models.close();
  }
}

/** The gateway's answer, since only it knows the servers found on this machine; undefined when it is down. */
async function askGateway(cli: Cli, snapshot: ConfigSnapshot, method: string): Promise<unknown> {
  try {
    const client = await connect(cli, { timeout: 3000 }, snapshot);
    try {
      return await client.request(method, {});
    } finally {
      client.close();
    }
  } catch (err) {
    if (err instanceof CliError) return undefined;
    throw err;
  }
}

export async function modelsList(cli: Cli, flags: { all?: boolean; local?: boolean; provider?: string; json?: boolean; plain?: boolean }): Promise<void> {
  const snapshot = await requireConfig(cli);
  const answer = await askGateway(cli, snapshot, "models.list");
  const rows = answer === undefined ? await withModels(cli, (models) => models.list()) : rowsOf(fieldsOf(answer)["models"]);
  const { primary, fallbacks } = choiceOf(snapshot, "model");
  const isLocal = (provider: string): boolean => ["ollama", "lmstudio", "llamacpp", "llama.cpp", "vllm", "offline"].includes(provider);
  const models = rows
    .map((row) => fieldsOf(row))
    .map((row) => {
      const provider = textOf(row["provider"]);
      const key = `${provider}/${textOf(row["id"])}`;
      const tags = [...(key === primary ? ["default"] : []), ...(fallbacks.includes(key) ? ["fallback"] : [])];
      return { key, name: textOf(row["name"]), provider, input: row["input"] ?? ["text"], contextWindow: row["contextWindow"] ?? null, reasoning: row["reasoning"] ?? false, local: isLocal(provider), available: row["available"] === true, tags };
    })
    .filter((row) => (flags.all || row.available) && (!flags.local || row.local) && (flags.provider === undefined || row.provider === flags.provider.toLowerCase()));
  if (flags.json) return cli.json({ count: models.length, models });
  if (flags.plain) return models.forEach((row) => cli.print(row.key));
  if (models.length === 0) return cli.print(flags.all ? "No model matches." : "No model can be used: no provider has a key. See `openclaw models list --all`.");
  const cells = models.map((row) => [row.key, Array.isArray(row.input) ? row.input.join("+") : "", typeof row.contextWindow === "number" ? formatCount(row.contextWindow) : "-", row.available ? "yes" : "no", row.tags.join(", ")]);
  cli.print(renderTable([{ title: "Model", flexible: true }, { title: "Input" }, { title: "Context" }, { title: "Usable" }, { title: "Tags" }], cells, cli.columns));
}

export async function modelsStatus(cli: Cli, flags: { json?: boolean | undefined; plain?: boolean | undefined; check?: boolean; agent?: string }): Promise<void> {
  await withModels(cli, async (models, snapshot) => {
    const agentId = flags.agent ?? resolveDefaultAgentId(snapshot.config);
    if (!isKnownAgentId(snapshot.config, agentId)) throw new CliError(`Unknown agent id "${agentId}".`);
    const running = flags.agent === undefined ? fieldsOf(fieldsOf(await askGateway(cli, snapshot, "status"))["model"]) : {};
    const choice = await models.selectDefault(agentId);
    const resolved = textOf(running["ref"]) || formatModelRef(choice.ref);
    const reason = textOf(running["reason"]) || choice.reason;
    const problem = resolved === formatModelRef(choice.ref) ? await problemOf(models, choice.ref, agentId) : undefined;
    if (flags.check && problem) cli.exitCode = 1;
    if (flags.plain) return cli.print(resolved);
    const { primary, fallbacks } = choiceOf(snapshot, "model");
    const image = choiceOf(snapshot, "imageModel");
    const aliases = Object.fromEntries([...models.aliases(agentId)].map(([alias, ref]) => [alias, formatModelRef(ref)]));
    const allowed = Object.keys(snapshot.config.agents?.defaults?.models ?? {});
    const status = {
      configPath: snapshot.path, agentDir: resolveAgent(snapshot.config, agentId, agentRoots(cli)).agentDir, defaultModel: primary ?? null, resolvedDefault: resolved, reason, fallbacks,
      imageModel: image.primary ?? null, imageFallbacks: image.fallbacks, aliases, allowed, auth: { ok: problem === undefined, ...(problem ? { problem: problem.message, fix: problem.fix } : {}) },
    };
    if (flags.json) return cli.json(status);
    cli.print(`Model: ${resolved} (${reason})`);
    cli.print(problem ? cli.paint("error", `Key: ${problem.message}`) : cli.paint("success", "Key: usable"));
    if (problem) cli.print(problem.fix);
    cli.print(`Configured default: ${primary ?? "none"}`);
    cli.print(`Fallbacks: ${fallbacks.join(", ") || "none"}`);
    cli.print(`Image model: ${image.primary ?? "same"}${image.fallbacks.length > 0 ? `; fallbacks ${image.fallbacks.join(", ")}` : ""}`);
    cli.print(`Aliases: ${Object.entries(aliases).map(([alias, ref]) => `${alias} → ${ref}`).join(", ") || "none"}`);
    cli.print(`Allowed: ${allowed.join(", ") || "all"}`);
    cli.print(`Config: ${snapshot.path}`);
  });
}

export async function problemOf(models: ModelService, ref: Parameters<ModelService["prepare"]>[0], agentId: string): Promise<ModelError | undefined> {
  try {
    await models.prepare(ref, agentId);
    return undefined;
  } catch (err) {
    if (err instanceof ModelError) return err;
    throw err;
  }
}

/** The full reference of a name. @throws CliError with names that are near */
function resolve(cli: Cli, text: string): Promise<{ ref: string; snapshot: ConfigSnapshot }> {
  return withModels(cli, async (models, snapshot) => {
    const parsed = await models.parseRef(text, resolveDefaultAgentId(snapshot.config));
    if (!parsed.ok) throw new CliError(parsed.error, { fix: parsed.suggestions.length > 0 ? `Did you mean: ${parsed.suggestions.join(", ")}?` : "See `openclaw models list --all`." });
    return { ref: `${formatModelRef(parsed.ref)}${parsed.profileId === undefined ? "" : `@${parsed.profileId}`}`, snapshot };
  });
}

async function writeChoice(cli: Cli, key: ModelKey, { primary, fallbacks }: Choice): Promise<void> {
  const value = { ...(primary === undefined ? {} : { primary }), ...(fallbacks.length > 0 ? { fallbacks } : {}) };
  await createWriter(cli).set(["agents", "defaults", key], value);
}

export async function modelsSet(cli: Cli, key: ModelKey, text: string): Promise<void> {
  const { ref, snapshot } = await resolve(cli, text);
  const { fallbacks } = choiceOf(snapshot, key);
  await writeChoice(cli, key, { primary: ref, fallbacks: fallbacks.filter((item) => item !== ref) });
  // A list of allowed models would keep the chosen one out.
  const allowed = snapshot.config.agents?.defaults?.models;
  if (allowed && Object.keys(allowed).length > 0 && !Object.hasOwn(allowed, ref)) await createWriter(cli).set(["agents", "defaults", "models", ref], {});
  cli.print(`${key === "model" ? "Default model" : "Image model"}: ${ref}`);
}

export async function aliasesList(cli: Cli, flags: { json?: boolean; plain?: boolean }): Promise<void> {
  await withModels(cli, async (models, snapshot) => {
    const aliases = [...models.aliases(resolveDefaultAgentId(snapshot.config))].map(([alias, ref]) => [alias, formatModelRef(ref)] as const);
    if (flags.json) return cli.json({ aliases: Object.fromEntries(aliases) });
    if (aliases.length === 0) return cli.print("No aliases.");
    for (const [alias, ref] of aliases) cli.print(flags.plain ? `${alias} ${ref}` : `${alias} → ${ref}`);
  });
}

export async function aliasesAdd(cli: Cli, alias: string, text: string): Promise<void> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(alias)) throw new CliError(`"${alias}" is no alias: use letters, digits, ".", "_" and "-".`);
  const { ref } = await resolve(cli, text);
  await createWriter(cli).set(["agents", "defaults", "models", ref, "alias"], alias);
  cli.print(`${alias} → ${ref}`);
}

export async function aliasesRemove(cli: Cli, alias: string): Promise<void> {
  const snapshot = await requireConfig(cli);
  const owner = Object.entries(snapshot.config.agents?.defaults?.models ?? {}).find(([, entry]) => entry.alias?.toLowerCase() === alias.toLowerCase());
  if (!owner) throw new CliError(`No alias "${alias}" is configured.`);
  await createWriter(cli).unset(["agents", "defaults", "models", owner[0], "alias"]);
  cli.print(`Removed ${alias}.`);
}

export async function fallbacksList(cli: Cli, key: ModelKey, flags: { json?: boolean; plain?: boolean }): Promise<void> {
  const { fallbacks } = choiceOf(await requireConfig(cli), key);
  if (flags.json) return cli.json({ fallbacks });
  if (fallbacks.length === 0 && !flags.plain) return cli.print("No fallbacks.");
  for (const ref of fallbacks) cli.print(ref);
}

export async function fallbacksAdd(cli: Cli, key: ModelKey, text: string): Promise<void> {
  const { ref, snapshot } = await resolve(cli, text);
  const choice = choiceOf(snapshot, key);
  if (!choice.fallbacks.includes(ref)) await writeChoice(cli, key, { ...choice, fallbacks: [...choice.fallbacks, ref] });
  cli.print(`Fallbacks: ${[...choice.fallbacks.filter((item) => item !== ref), ref].join(", ")}`);
}

export async function fallbacksRemove(cli: Cli, key: ModelKey, text: string): Promise<void> {
  const choice = choiceOf(await requireConfig(cli), key);
  const rest = choice.fallbacks.filter((item) => item !== text);
  if (rest.length === choice.fallbacks.length) throw new CliError(`"${text}" is no fallback.`, { fix: `Fallbacks: ${choice.fallbacks.join(", ") || "none"}` });
  await writeChoice(cli, key, { ...choice, fallbacks: rest });
  cli.print(`Removed ${text}.`);
}

export async function fallbacksClear(cli: Cli, key: ModelKey): Promise<void> {
  const choice = choiceOf(await requireConfig(cli), key);
  await writeChoice(cli, key, { ...choice, fallbacks: [] });
  cli.print("Fallbacks removed.");
}
