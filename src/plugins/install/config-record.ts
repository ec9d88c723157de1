import type { OpenClawConfig } from "../../config/index.ts";
import { asFields } from "../runtime/section.ts";

/** What an install leaves in the config; each gives a new config. Source: spec plugin-sdk §3, plugin-sdk-survey §2. */

type Plugins = NonNullable<OpenClawConfig["plugins"]>;
export type InstallRecord = NonNullable<NonNullable<Plugins["installs"]>[string]>;

const pluginsOf = (cfg: OpenClawConfig): Plugins => cfg.plugins ?? {};
const entriesOf = (cfg: OpenClawConfig): Readonly<Record<string, unknown>> => asFields(pluginsOf(cfg).entries);
const withPlugins = (cfg: OpenClawConfig, plugins: object): OpenClawConfig => ({ ...cfg, plugins: { ...pluginsOf(cfg), ...plugins } as Plugins });

const defined = <T extends object>(value: T): T => Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;

export const findInstall = (cfg: OpenClawConfig, id: string): InstallRecord | undefined => pluginsOf(cfg).installs?.[id];

export const withInstallRecord = (cfg: OpenClawConfig, id: string, record: InstallRecord): OpenClawConfig =>
  withPlugins(cfg, { installs: { ...pluginsOf(cfg).installs, [id]: defined(record) } });

/** On, and on the allow list where there is one. */
export function withPluginEnabled(cfg: OpenClawConfig, id: string): OpenClawConfig {
  const { allow } = pluginsOf(cfg);
  const next = withPlugins(cfg, { entries: { ...entriesOf(cfg), [id]: { ...asFields(entriesOf(cfg)[id]), enabled: true } } });
  return allow?.length && !allow.includes(id) ? withPlugins(next, { allow: [...allow, id] }) : next;
}

export const withLoadPath = (cfg: OpenClawConfig, path: string): OpenClawConfig => {
  const paths = pluginsOf(cfg).load?.paths ?? [];
  return paths.includes(path) ? cfg : withPlugins(cfg, { load: { ...pluginsOf(cfg).load, paths: [...paths, path] } });
};

/** Only one memory at a time: the slot goes to `id`, the others are switched off. `notices` are for people. */
export function withMemorySlot(cfg: OpenClawConfig, id: string, others: readonly string[]): { readonly cfg: OpenClawConfig; readonly notices: string[] } {
  const before = pluginsOf(cfg).slots?.memory ?? "memory-core";
  const off = others.filter((other) => other !== id);
  const entries = { ...entriesOf(cfg), ...Object.fromEntries(off.map((other) => [other, { ...asFields(entriesOf(cfg)[other]), enabled: false }])) };
  return {
    cfg: withPlugins(cfg, { slots: { ...pluginsOf(cfg).slots, memory: id }, entries }),
    notices: [
      ...(before === id ? [] : [`Exclusive slot "memory" switched from "${before}" to "${id}".`]),
      ...(off.length > 0 ? [`Disabled other "memory" slot plugins: ${off.toSorted((a, b) => a.localeCompare(b)).join(", ")}.`] : []),
    ],
  };
}

export interface Removal {
  readonly cfg: OpenClawConfig;
  /** What was there and is gone, for people. */
  readonly removed: readonly ("config entry" | "install record" | "allowlist entry" | "load path" | "memory slot")[];
}

export function withoutPlugin(cfg: OpenClawConfig, id: string): Removal {
  const plugins = pluginsOf(cfg);
  const record = findInstall(cfg, id);
  const removed: Removal["removed"][number][] = [];
  const drop = (name: Removal["removed"][number], there: boolean): boolean => (there && removed.push(name), there);
  const { [id]: _entry, ...entries } = entriesOf(cfg);
  const { [id]: _install, ...installs } = asFields(plugins.installs);
  const linked = record?.source === "path" ? record.sourcePath : undefined;
  const { memory: _memory, ...slots } = plugins.slots ?? {};
  const next = {
    ...(drop("config entry", Object.hasOwn(entriesOf(cfg), id)) ? { entries } : {}),
    ...(drop("install record", record !== undefined) ? { installs } : {}),
    ...(drop("allowlist entry", plugins.allow?.includes(id) === true) ? { allow: plugins.allow?.filter((entry) => entry !== id) } : {}),
    ...(drop("load path", linked !== undefined && plugins.load?.paths?.includes(linked) === true) ? { load: { ...plugins.load, paths: plugins.load?.paths?.filter((path) => path !== linked) } } : {}),
    ...(drop("memory slot", plugins.slots?.memory === id) ? { slots } : {}),
  };
  return { cfg: removed.length > 0 ? withPlugins(cfg, next) : cfg, removed };
}
