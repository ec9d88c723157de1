import type { Command } from "commander";
import type { Cli } from "../cli.ts";

/** Spec: cli-commands.tsv, `openclaw models …`. */
export function defineModels(command: Command, cli: Cli): void {
  const load = () => import("./models-run.ts");
  addStatusFlags(command.option("--status-json", "same as `models status --json`").option("--status-plain", "same as `models status --plain`")).action(
    async (_flags: unknown, self: Command) => {
      const flags = self.optsWithGlobals<{ statusJson?: boolean; statusPlain?: boolean; json?: boolean; plain?: boolean }>();
      await (await load()).modelsStatus(cli, { ...flags, json: flags.json ?? flags.statusJson, plain: flags.plain ?? flags.statusPlain });
    },
  );
  command
    .command("list")
    .description("models that can be used")
    .option("--all", "also those without a key")
    .option("--local", "only servers on this machine")
    .option("--provider <name>", "only this provider")
    .option("--json", "print one JSON document")
    .option("--plain", "one reference a line")
    .action(async (_flags: unknown, self: Command) => (await load()).modelsList(cli, self.optsWithGlobals()));
  addStatusFlags(command.command("status").description("the model in use, and why")).action(async (_flags: unknown, self: Command) => (await load()).modelsStatus(cli, self.optsWithGlobals()));
  for (const [name, key, what] of [["set", "model", "default model"], ["set-image", "imageModel", "model for images"]] as const) {
    command
      .command(name)
      .description(`choose the ${what}`)
      .argument("<model>", "provider/model or an alias")
      .action(async (model: string) => (await load()).modelsSet(cli, key, model));
  }
  const aliases = command.command("aliases").description("short names of models");
  aliases.command("list").description("list them").option("--json", "print one JSON document").option("--plain", "one a line").action(async (_flags: unknown, self: Command) => (await load()).aliasesList(cli, self.optsWithGlobals()));
  aliases.command("add").description("give a model a short name").argument("<alias>").argument("<model>").action(async (alias: string, model: string) => (await load()).aliasesAdd(cli, alias, model));
  aliases.command("remove").description("take a short name away").argument("<alias>").action(async (alias: string) => (await load()).aliasesRemove(cli, alias));
  const auth = command.command("auth").description("logins at providers").option("--agent <id>", "of this agent");
  auth
    .command("login")
    .description("log in at a provider that a plugin brings")
    .option("--provider <id>", "which; asked for when absent")
    .option("--method <id>", "how, where the provider has several ways")
    .option("--set-default", "make its model the default")
    .action(async (_flags: unknown, self: Command) => (await import("./models-auth.ts")).modelsAuthLogin(cli, self.optsWithGlobals()));
  for (const [name, key] of [["fallbacks", "model"], ["image-fallbacks", "imageModel"]] as const) {
    const group = command.command(name).description(`models to use when the ${key === "model" ? "default" : "image"} model fails`);
    group.command("list").description("list them").option("--json", "print one JSON document").option("--plain", "one a line").action(async (_flags: unknown, self: Command) => (await load()).fallbacksList(cli, key, self.optsWithGlobals()));
    group.command("add").description("add one at the end").argument("<model>").action(async (model: string) => (await load()).fallbacksAdd(cli, key, model));
    group.command("remove").description("remove one").argument("<model>").action(async (model: string) => (await load()).fallbacksRemove(cli, key, model));
    group.command("clear").description("remove all").action(async () => (await load()).fallbacksClear(cli, key));
  }
}

const addStatusFlags = (command: Command): Command =>
  command
    .option("--json", "print one JSON document")
    .option("--plain", "only the reference")
    .option("--check", "exit 1 when the model has no usable key")
    .option("--agent <id>", "of this agent");
