/** Whether a change of config at `path` concerns any of `prefixes` and not only `noop` ones. Paths are dotted. */
export function pathsTouch(path: string, prefixes: readonly string[], noop: readonly string[]): boolean {
  const under = (inner: string, outer: string): boolean => inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`);
  if (noop.some((prefix) => under(path, prefix))) return false;
  return prefixes.some((prefix) => under(path, prefix) || under(prefix, path));
}
