import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { parseFlags, UsageError } from "./flags.ts";

export interface FakeContainer {
  readonly id: string;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly env: readonly string[];
  readonly mounts: readonly { readonly source: string; readonly target: string; readonly readOnly: boolean }[];
  readonly tmpfs: readonly string[];
  readonly workdir: string;
  readonly cmd: readonly string[];
  readonly args: readonly string[];
  running: boolean;
}

export interface FakeDockerState {
  /** "down": nothing answers at the socket. */
  engine: "up" | "down";
  images: string[];
  /** What a pull finds. */
  registry: string[];
  containers: Record<string, FakeContainer>;
}

const fail = (message: string, code = 1): never => {
  throw new UsageError(message, code);
};
const daemon = (message: string, code = 1): never => fail(`Error response from daemon: ${message}`, code);

/** @public Loaded by the command that `createFakeDocker` writes. One call; containers share the machine: a command runs here, in the folder that is mounted at its own. */
export async function runFakeDocker(dir: string, argv: readonly string[]): Promise<number> {
  appendFileSync(join(dir, "calls.jsonl"), `${JSON.stringify(argv)}\n`);
  const file = join(dir, "state.json");
  const state = JSON.parse(readFileSync(file, "utf8")) as FakeDockerState;
  const save = (): void => {
    writeFileSync(`${file}.${process.pid}`, JSON.stringify(state));
    renameSync(`${file}.${process.pid}`, file);
  };
  const [command = "", ...args] = argv;
  try {
    const { flags, rest } = parseFlags(command, args);
    if (state.engine === "down") fail("Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?");
    const container = (name: string | undefined): FakeContainer => state.containers[name ?? ""] ?? daemon(`No such container: ${name}`);
    switch (command) {
      case "image":
        if (rest[0] !== "inspect") fail(`unknown command: docker image ${rest[0]}`);
        if (!state.images.includes(rest[1] ?? "")) daemon(`No such image: ${rest[1]}`);
        console.log(JSON.stringify([{ RepoTags: [rest[1]] }]));
        return 0;
      case "pull":
        if (!state.registry.includes(rest[0] ?? "")) daemon(`pull access denied for ${rest[0]}, repository does not exist or may require 'docker login'`);
        state.images.push(rest[0] as string);
        save();
        return 0;
      case "tag":
        if (!state.images.includes(rest[0] ?? "")) daemon(`No such image: ${rest[0]}`);
        state.images.push(rest[1] as string);
        save();
        return 0;
      case "create": {
        const name = flags.get("--name")?.[0] as string;
        if (state.containers[name]) daemon(`Conflict. The container name "/${name}" is already in use by container "${state.containers[name].id}". You have to remove (or rename) that container to be able to reuse that name.`, 125);
        state.containers[name] = create(name, flags, rest, args, state);
        save();
        console.log(state.containers[name].id);
        return 0;
      }
      case "start":
        container(rest[0]).running = true;
        save();
        console.log(rest[0]);
        return 0;
      case "rm":
        if (container(rest[0]).running && !flags.has("-f")) daemon(`cannot remove container "${rest[0]}": container is running: stop the container before removing or force remove`);
        delete state.containers[rest[0] ?? ""];
        save();
        return 0;
      case "container": {
        if (rest[0] !== "inspect") fail(`unknown command: docker container ${rest[0]}`);
        const found = container(rest[1]);
        console.log(JSON.stringify([{ Id: found.id, Name: `/${rest[1]}`, State: { Running: found.running, Status: found.running ? "running" : "exited" }, Config: { Image: found.image, Labels: found.labels } }]));
        return 0;
      }
      case "exec": {
        const found = container(rest[0]);
        if (!found.running) daemon(`container ${found.id} is not running`);
        if (flags.has("-t") && !process.stdin.isTTY) fail("the input device is not a TTY");
        return await exec(found, flags, rest.slice(1));
      }
      default:
        return fail(`docker: unknown command: docker ${command}`);
    }
  } catch (err) {
    if (!(err instanceof UsageError)) throw err;
    console.error(err.message);
    return err.code;
  }
}

function create(name: string, flags: ReadonlyMap<string, readonly string[]>, rest: readonly string[], args: readonly string[], state: FakeDockerState): FakeContainer {
  const [image = "", ...cmd] = rest;
  if (!state.images.includes(image)) daemon(`No such image: ${image}`);
  const mounts = (flags.get("--volume") ?? []).map((value) => {
    const [source = "", target = "", options = ""] = value.split(":");
    if (!existsSync(source)) mkdirSync(source, { recursive: true });
    return { source, target, readOnly: options.split(",").includes("ro") };
  });
  const tmpfs = (flags.get("--tmpfs") ?? []).map((value) => value.split(":")[0] as string);
  const targets = [...mounts.map((mount) => mount.target), ...tmpfs];
  const twice = targets.find((target, index) => targets.indexOf(target) !== index);
  if (twice !== undefined) daemon(`Duplicate mount point: ${twice}`);
  for (const option of flags.get("--security-opt") ?? []) {
    const profile = /^seccomp=(.+)$/.exec(option)?.[1];
    if (profile !== undefined && profile !== "unconfined" && !existsSync(profile)) fail(`opening seccomp profile (${profile}) failed: open ${profile}: no such file or directory`, 125);
  }
  return {
    id: createHash("sha256").update(name + String(process.hrtime.bigint())).digest("hex"), image, cmd, args, mounts, tmpfs, running: false,
    labels: Object.fromEntries((flags.get("--label") ?? []).map((label) => label.split(/=(.*)/s).slice(0, 2) as [string, string])),
    env: flags.get("--env") ?? [], workdir: flags.get("--workdir")?.[0] ?? "/",
  };
}

/** As with the real one, the command goes on when the client is killed. */
function exec(container: FakeContainer, flags: ReadonlyMap<string, readonly string[]>, argv: readonly string[]): Promise<number> {
  const workdir = flags.get("-w")?.[0] ?? container.workdir;
  const mount = container.mounts.find(({ target }) => workdir === target || workdir.startsWith(`${target}/`));
  const cwd = mount ? posix.join(mount.source, workdir.slice(mount.target.length)) : container.tmpfs.includes(workdir) || workdir === "/" ? "/tmp" : undefined;
  if (cwd === undefined || !existsSync(cwd) || !statSync(cwd).isDirectory()) {
    return Promise.reject(new UsageError(`OCI runtime exec failed: exec failed: unable to start container process: chdir to cwd ("${workdir}") set in config.json failed: no such file or directory: unknown`, 126));
  }
  const env: Record<string, string> = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/", HOSTNAME: container.id.slice(0, 12) };
  for (const pair of [...container.env, ...(flags.get("-e") ?? [])]) {
    const [name = "", value] = pair.split(/=(.*)/s);
    const inherited = value ?? process.env[name];
    if (inherited !== undefined) env[name] = inherited;
  }
  const [file = "", ...args] = argv;
  return new Promise((resolve) => {
    const child = spawn(file, args, { cwd, env, detached: true, stdio: [flags.has("-i") ? "inherit" : "ignore", "inherit", "inherit"] });
    child.once("error", () => resolve(127));
    child.once("close", (code, signal) => resolve(code ?? (signal === "SIGKILL" ? 137 : 143)));
  });
}
