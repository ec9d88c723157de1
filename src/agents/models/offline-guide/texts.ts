import type { GuideLanguage } from "./question.ts";

interface GuideTexts {
  readonly greeting: string;
  readonly connect: string;
  readonly help: (tools: readonly string[]) => string;
  readonly other: string;
  readonly callingTool: (tool: string) => string;
  readonly toolResult: (tool: string, text: string) => string;
  readonly toolFailed: (tool: string, text: string) => string;
  readonly noTool: (wanted: string) => string;
  readonly more: string;
  readonly abilities: Readonly<Record<"status" | "list" | "read", string>>;
}

const CONFIG_EXAMPLE = `\`\`\`json5
// ~/.openclaw/openclaw.json
{
  models: { providers: { myserver: {
    baseUrl: "https://api.example.com/v1",
    api: "openai-completions",   // or anthropic-messages, openai-responses, google-generative-ai
    apiKey: "\${MY_API_KEY}",
    models: [{ id: "model-name", name: "Model name" }],
  } } },
  agents: { defaults: { model: { primary: "myserver/model-name" } } },
}
\`\`\``;

const EN: GuideTexts = {
  greeting:
    "Hello! I am OpenClaw's built-in offline guide, not a language model: no model is connected yet. Write `connect a model` to see how to add one, or `help` for what I can show you.",
  connect: `I am OpenClaw's built-in offline guide, not a language model. To get real answers, connect a model in one of three ways:

**1. An API key in the environment** of the gateway, then restart it:
\`ANTHROPIC_API_KEY\`, \`OPENAI_API_KEY\`, \`GEMINI_API_KEY\`, \`OPENROUTER_API_KEY\`, \`DEEPSEEK_API_KEY\`, \`MOONSHOT_API_KEY\`, \`ZAI_API_KEY\` … They may also stand in \`~/.openclaw/.env\`.

**2. Any compatible server, in the config file** (applies without a restart):
${CONFIG_EXAMPLE}

**3. A model on this machine.** Install Ollama, run \`ollama pull qwen3\`, and leave it running: I find it by myself within a minute. LM Studio (1234), llama.cpp (8080) and vLLM (8000) are found as well.

Check with \`openclaw models status\` or /status.`,
  help: (tools) =>
    `I am OpenClaw's built-in offline guide, not a language model: I match a few phrases and cannot think or chat.\n\nEverything else works already: channels, sessions, commands (/help, /status) and tools. Try:\n${tools.map((line) => `- ${line}`).join("\n")}\n- \`connect a model\` – how to get real answers`,
  other:
    "I am OpenClaw's built-in offline guide, not a language model, so I cannot answer that. Your message did arrive, and everything but the model works.\n\nTo connect a model: set an API key (for example `ANTHROPIC_API_KEY` or `OPENAI_API_KEY`) and restart, add a server under `models.providers` in `openclaw.json`, or start Ollama on this machine. Write `connect a model` for the details, `help` for what I can show.",
  callingTool: (tool) => `No model is connected, but tools work. Calling \`${tool}\`:`,
  toolResult: (tool, text) => `\`${tool}\` answered:\n\n${text}\n\n(Offline guide, not a language model: write \`connect a model\` for real answers.)`,
  toolFailed: (tool, text) => `\`${tool}\` reported an error:\n\n${text}\n\n(Offline guide, not a language model. The call went the same way a model's would.)`,
  noTool: (wanted) => `I am the offline guide, not a language model. That would need the tool ${wanted}, which is not offered in this chat.`,
  more: "… (shortened)",
  abilities: {
    status: "`what time is it` – calls session_status",
    list: "`list files` – lists the workspace",
    read: "`read AGENTS.md` – reads a file of the workspace",
  },
};

const ZH: GuideTexts = {
  greeting: "你好！我是 OpenClaw 内置的离线向导，不是语言模型：目前还没有连接任何模型。发送“连接模型”查看接入方法，发送“帮助”看看我能演示什么。",
  connect: `我是 OpenClaw 内置的离线向导，不是语言模型。想得到真正的回答，请用下面任意一种方式连接模型：

**1. 环境变量里放 API 密钥**，然后重启网关：
\`DEEPSEEK_API_KEY\`、\`MOONSHOT_API_KEY\`、\`ZAI_API_KEY\`、\`MINIMAX_API_KEY\`、\`ANTHROPIC_API_KEY\`、\`OPENAI_API_KEY\`、\`GEMINI_API_KEY\` 等，也可以写进 \`~/.openclaw/.env\`。

**2. 在配置文件里写任何兼容的服务**（无需重启）：
${CONFIG_EXAMPLE}

**3. 使用本机模型。** 安装 Ollama，运行 \`ollama pull qwen3\` 并保持运行，一分钟内会自动发现。LM Studio（1234）、llama.cpp（8080）、vLLM（8000）也会自动发现。

用 \`openclaw models status\` 或 /status 检查。`,
  help: (tools) =>
    `我是 OpenClaw 内置的离线向导，不是语言模型：我只认得几句话，不能思考或聊天。\n\n其他功能都已可用：渠道、会话、命令（/help、/status）和工具。可以试试：\n${tools.map((line) => `- ${line}`).join("\n")}\n- “连接模型”：如何得到真正的回答`,
  other:
    "我是 OpenClaw 内置的离线向导，不是语言模型，无法回答这个问题。你的消息已经收到，除模型外一切正常。\n\n连接模型的方法：设置 API 密钥（例如 `DEEPSEEK_API_KEY` 或 `OPENAI_API_KEY`）后重启；或在 `openclaw.json` 的 `models.providers` 中添加服务；或在本机启动 Ollama。发送“连接模型”查看详细步骤，发送“帮助”看我能演示什么。",
  callingTool: (tool) => `还没有连接模型，但工具可用。正在调用 \`${tool}\`：`,
  toolResult: (tool, text) => `\`${tool}\` 的结果：\n\n${text}\n\n（离线向导，不是语言模型。发送“连接模型”了解如何获得真正的回答。）`,
  toolFailed: (tool, text) => `\`${tool}\` 报告了错误：\n\n${text}\n\n（离线向导，不是语言模型。这次调用走的是与模型相同的流程。）`,
  noTool: (wanted) => `我是离线向导，不是语言模型。这需要工具 ${wanted}，但本聊天没有提供它。`,
  more: "……（已截短）",
  abilities: {
    status: "“现在几点”：调用 session_status",
    list: "“列出文件”：列出工作区",
    read: "“读取 AGENTS.md”：读取工作区里的文件",
  },
};

export const guideTexts = (language: GuideLanguage): GuideTexts => (language === "zh" ? ZH : EN);
