/**
 * Every key of the configuration file: the source of truth for validation, defaults, types and the exported JSON Schema.
 *
 * One key per line, indented below its parent: `name type [constraints]`. `*` stands for any key of a map; the children of an
 * `obj[]` are the keys of its items. Types, joined by `|`: str int num bool any, enum(a|b), false (the literal), obj (closed),
 * map (typed values), open (anything), and arrays str[] obj[] enum(…)[] and id[] (strings or numbers).
 * Constraints: `!` required, `secret` redacted, `>=n <=n >n <n` bounds, `len>=n len<=n`, `~regex`, `@uri`, `@duration` (`1h30m`), `@age` (`30d`), `@bytes` (`10mb`), `=json` the default.
 * After a change run `node src/config/schema/generate-types.ts --write`.
 */
export const KEYS: string = String.raw`
$schema str
meta obj
  lastTouchedVersion str
  lastTouchedAt str|num
env map
  shellEnv obj
    enabled bool
    timeoutMs int >=0
  vars map
    * str
  * str
wizard obj
  lastRunAt str
  lastRunVersion str
  lastRunCommit str
  lastRunCommand str
  lastRunMode enum(local|remote)
diagnostics obj
  enabled bool
  flags str[]
  otel obj
    enabled bool
    endpoint str
    protocol enum(http/protobuf|grpc)
    headers map
      * str
    serviceName str
    traces bool
    metrics bool
    logs bool
    sampleRate num >=0 <=1
    flushIntervalMs int >=0
  cacheTrace obj
    enabled bool
    filePath str
    includeMessages bool
    includePrompt bool
    includeSystem bool
logging obj
  level enum(silent|fatal|error|warn|info|debug|trace)
  file str
  maxFileBytes int >0
  consoleLevel enum(silent|fatal|error|warn|info|debug|trace)
  consoleStyle enum(pretty|compact|json)
  redactSensitive enum(off|tools)
  redactPatterns str[]
update obj
  channel enum(stable|beta|dev)
  checkOnStart bool
  auto obj
    enabled bool
    stableDelayHours num >=0 <=168
    stableJitterHours num >=0 <=168
    betaCheckIntervalHours num <=24 >0
browser obj
  enabled bool
  evaluateEnabled bool
  cdpUrl str
  remoteCdpTimeoutMs int >=0
  remoteCdpHandshakeTimeoutMs int >=0
  color str
  executablePath str
  headless bool
  noSandbox bool
  attachOnly bool
  defaultProfile str
  snapshotDefaults obj
    mode enum(efficient)
  ssrfPolicy obj
    allowPrivateNetwork bool
    dangerouslyAllowPrivateNetwork bool
    allowedHostnames str[]
    hostnameAllowlist str[]
  profiles map
    * obj
      cdpPort int >=1 <=65535
      cdpUrl str
      driver enum(clawd|extension)
      color str ! ~^#?[0-9a-fA-F]{6}$
ui obj
  seamColor str ~^#?[0-9a-fA-F]{6}$
  assistant obj
    name str len<=50
    avatar str len<=200
auth obj
  profiles map
    * obj
      provider str !
      mode enum(api_key|oauth|token) !
      email str
  order map
    * str[]
  cooldowns obj
    billingBackoffHours num >0
    billingBackoffHoursByProvider map
      * num >0
    billingMaxHours num >0
    failureWindowHours num >0
models obj
  mode enum(merge|replace)
  providers map
    * obj
      baseUrl str ! len>=1
      apiKey str secret
      auth enum(api-key|aws-sdk|oauth|token)
      api enum(openai-completions|openai-responses|anthropic-messages|google-generative-ai|github-copilot|bedrock-converse-stream|ollama)
      failover bool
      headers map
        * str
      authHeader bool
      models obj[] !
        id str ! len>=1
        name str ! len>=1
        api enum(openai-completions|openai-responses|anthropic-messages|google-generative-ai|github-copilot|bedrock-converse-stream|ollama)
        reasoning bool
        input enum(text|image)[]
        cost obj
          input num
          output num
          cacheRead num
          cacheWrite num
        contextWindow num >0
        maxTokens num >0
        headers map
          * str
        compat obj
          supportsStore bool
          supportsDeveloperRole bool
          supportsReasoningEffort bool
          supportsUsageInStreaming bool
          supportsStrictMode bool
          maxTokensField enum(max_completion_tokens|max_tokens)
          thinkingFormat enum(openai|zai|qwen)
          requiresToolResultName bool
          requiresAssistantAfterToolResult bool
          requiresThinkingAsText bool
          requiresMistralToolIds bool
  bedrockDiscovery obj
    enabled bool
    region str
    providerFilter str[]
    refreshInterval int >=0
    defaultContextWindow int >0
    defaultMaxTokens int >0
heartbeat obj
  enabled bool
mcp obj
  servers map
    * obj
      enabled bool
      command str
      args str[]
      env map
        * str
      cwd str
      url str
      transport enum(sse|streamable-http)
      headers map
        * str
      timeoutMs int >0
      tools obj
        allow str[]
        deny str[]
nodeHost obj
  browserProxy obj
    enabled bool
    allowProfiles str[]
agents obj
  defaults obj
    model str|obj
      primary str
      fallbacks str[]
    imageModel str|obj
      primary str
      fallbacks str[]
    models map
      * obj
        alias str
        params open
        streaming bool
    workspace str
    repoRoot str
    skipBootstrap bool
    bootstrapMaxChars int >0
    bootstrapTotalMaxChars int >0
    userTimezone str
    timeFormat enum(auto|12|24)
    envelopeTimezone str
    envelopeTimestamp enum(on|off)
    envelopeElapsed enum(on|off)
    contextTokens int >0
    cliBackends map
      * obj
        command str !
        args str[]
        output enum(json|text|jsonl)
        resumeOutput enum(json|text|jsonl)
        input enum(arg|stdin)
        maxPromptArgChars int >0
        env map
          * str
        clearEnv str[]
        modelArg str
        modelAliases map
          * str
        sessionArg str
        sessionArgs str[]
        resumeArgs str[]
        sessionMode enum(always|existing|none)
        sessionIdFields str[]
        systemPromptArg str
        systemPromptMode enum(append|replace)
        systemPromptWhen enum(first|always|never)
        imageArg str
        imageMode enum(repeat|list)
        serialize bool
        reliability obj
          watchdog obj
            fresh obj
              noOutputTimeoutMs int >=1000
              noOutputTimeoutRatio num >=0.05 <=0.95
              minMs int >=1000
              maxMs int >=1000
            resume obj
              noOutputTimeoutMs int >=1000
              noOutputTimeoutRatio num >=0.05 <=0.95
              minMs int >=1000
              maxMs int >=1000
    memorySearch obj
      enabled bool
      sources enum(memory|sessions)[]
      extraPaths str[]
      experimental obj
        sessionMemory bool
      provider enum(openai|local|gemini|voyage|mistral)
      remote obj
        baseUrl str
        apiKey str secret
        headers map
          * str
        batch obj
          enabled bool
          wait bool
          concurrency int >0
          pollIntervalMs int >=0
          timeoutMinutes int >0
      fallback enum(openai|gemini|local|voyage|mistral|none)
      model str
      local obj
        modelPath str
        modelCacheDir str
      store obj
        driver enum(sqlite)
        path str
        vector obj
          enabled bool
          extensionPath str
      chunking obj
        tokens int >0
        overlap int >=0
      sync obj
        onSessionStart bool
        onSearch bool
        watch bool
        watchDebounceMs int >=0
        intervalMinutes int >=0
        sessions obj
          deltaBytes int >=0
          deltaMessages int >=0
      query obj
        maxResults int >0
        minScore num >=0 <=1
        hybrid obj
          enabled bool
          vectorWeight num >=0 <=1
          textWeight num >=0 <=1
          candidateMultiplier int >0
          mmr obj
            enabled bool
            lambda num >=0 <=1
          temporalDecay obj
            enabled bool
            halfLifeDays int >0
      cache obj
        enabled bool
        maxEntries int >0
    contextPruning obj
      mode enum(off|cache-ttl)
      ttl str @duration
      keepLastAssistants int >=0
      softTrimRatio num >=0 <=1
      hardClearRatio num >=0 <=1
      minPrunableToolChars int >=0
      tools obj
        allow str[]
        deny str[]
      softTrim obj
        maxChars int >=0
        headChars int >=0
        tailChars int >=0
      hardClear obj
        enabled bool
        placeholder str
    compaction obj
      mode enum(default|safeguard|aggressive|off)
      reserveTokens int >=0
      keepRecentTokens int >0
      reserveTokensFloor int >=0
      maxHistoryShare num >=0.1 <=0.9
      memoryFlush obj
        enabled bool
        softThresholdTokens int >=0
        prompt str
        systemPrompt str
    thinkingDefault enum(off|minimal|low|medium|high|xhigh)
    verboseDefault enum(off|on|full)
    elevatedDefault enum(off|on|ask|full)
    blockStreamingDefault enum(off|on)
    blockStreamingBreak enum(text_end|message_end)
    blockStreamingChunk obj
      minChars int >0
      maxChars int >0
      breakPreference enum(paragraph|newline|sentence)
    blockStreamingCoalesce obj
      minChars int >0
      maxChars int >0
      idleMs int >=0
    humanDelay obj
      mode enum(off|natural|custom)
      minMs int >=0
      maxMs int >=0
    timeoutSeconds int >0
    mediaMaxMb num >0
    imageMaxDimensionPx int >0
    typingIntervalSeconds int >0
    typingMode enum(never|instant|thinking|message)
    heartbeat obj
      every str @duration
      enabled bool
      activeHours obj
        start str
        end str
        timezone str
      model str
      session str
      includeReasoning bool
      target str
      directPolicy enum(allow|block)
      to str
      accountId str
      prompt str
      ackMaxChars int >=0
      suppressToolErrorWarnings bool
    maxConcurrent int >0
    subagents obj
      maxConcurrent int >0
      maxSpawnDepth int >=1 <=5
      maxChildrenPerAgent int >=1 <=20
      archiveAfterMinutes int >0
      model str|obj
        primary str
        fallbacks str[]
      thinking str
      runTimeoutSeconds int >=0
      announceTimeoutMs int >0
    sandbox obj
      mode enum(off|non-main|all)
      workspaceAccess enum(none|ro|rw)
      sessionToolsVisibility enum(spawned|all)
      scope enum(session|agent|shared)
      perSession bool
      workspaceRoot str
      docker obj
        image str
        containerPrefix str
        workdir str
        readOnlyRoot bool
        tmpfs str[]
        network str
        user str
        capDrop str[]
        env map
          * str
        setupCommand str
        pidsLimit int >0
        memory str|num
        memorySwap str|num
        cpus num >0
        ulimits map
          * str|num|obj
            soft int >=0
            hard int >=0
        seccompProfile str
        apparmorProfile str
        dns str[]
        extraHosts str[]
        binds str[]
        dangerouslyAllowReservedContainerTargets bool
        dangerouslyAllowExternalBindSources bool
        dangerouslyAllowContainerNamespaceJoin bool
      browser obj
        enabled bool
        image str
        containerPrefix str
        network str
        cdpPort int >0
        cdpSourceRange str
        vncPort int >0
        noVncPort int >0
        headless bool
        enableNoVnc bool
        allowHostControl bool
        autoStart bool
        autoStartTimeoutMs int >0
        binds str[]
      prune obj
        idleHours int >=0
        maxAgeDays int >=0
  list obj[]
    id str !
    default bool
    name str
    workspace str
    agentDir str
    model str|obj
      primary str
      fallbacks str[]
    skills str[]
    memorySearch obj
      enabled bool
      sources enum(memory|sessions)[]
      extraPaths str[]
      experimental obj
        sessionMemory bool
      provider enum(openai|local|gemini|voyage|mistral)
      remote obj
        baseUrl str
        apiKey str secret
        headers map
          * str
        batch obj
          enabled bool
          wait bool
          concurrency int >0
          pollIntervalMs int >=0
          timeoutMinutes int >0
      fallback enum(openai|gemini|local|voyage|mistral|none)
      model str
      local obj
        modelPath str
        modelCacheDir str
      store obj
        driver enum(sqlite)
        path str
        vector obj
          enabled bool
          extensionPath str
      chunking obj
        tokens int >0
        overlap int >=0
      sync obj
        onSessionStart bool
        onSearch bool
        watch bool
        watchDebounceMs int >=0
        intervalMinutes int >=0
        sessions obj
          deltaBytes int >=0
          deltaMessages int >=0
      query obj
        maxResults int >0
        minScore num >=0 <=1
        hybrid obj
          enabled bool
          vectorWeight num >=0 <=1
          textWeight num >=0 <=1
          candidateMultiplier int >0
          mmr obj
            enabled bool
            lambda num >=0 <=1
          temporalDecay obj
            enabled bool
            halfLifeDays int >0
      cache obj
        enabled bool
        maxEntries int >0
    humanDelay obj
      mode enum(off|natural|custom)
      minMs int >=0
      maxMs int >=0
    heartbeat obj
      every str @duration
      enabled bool
      activeHours obj
        start str
        end str
        timezone str
      model str
      session str
      includeReasoning bool
      target str
      directPolicy enum(allow|block)
      to str
      accountId str
      prompt str
      ackMaxChars int >=0
      suppressToolErrorWarnings bool
    identity obj
      name str
      theme str
      emoji str
      avatar str
    groupChat obj
      mentionPatterns str[]
      historyLimit int >0
    subagents obj
      allowAgents str[]
      model str|obj
        primary str
        fallbacks str[]
      thinking str
    sandbox obj
      mode enum(off|non-main|all)
      workspaceAccess enum(none|ro|rw)
      sessionToolsVisibility enum(spawned|all)
      scope enum(session|agent|shared)
      perSession bool
      workspaceRoot str
      docker obj
        image str
        containerPrefix str
        workdir str
        readOnlyRoot bool
        tmpfs str[]
        network str
        user str
        capDrop str[]
        env map
          * str
        setupCommand str
        pidsLimit int >0
        memory str|num
        memorySwap str|num
        cpus num >0
        ulimits map
          * str|num|obj
            soft int >=0
            hard int >=0
        seccompProfile str
        apparmorProfile str
        dns str[]
        extraHosts str[]
        binds str[]
        dangerouslyAllowReservedContainerTargets bool
        dangerouslyAllowExternalBindSources bool
        dangerouslyAllowContainerNamespaceJoin bool
      browser obj
        enabled bool
        image str
        containerPrefix str
        network str
        cdpPort int >0
        cdpSourceRange str
        vncPort int >0
        noVncPort int >0
        headless bool
        enableNoVnc bool
        allowHostControl bool
        autoStart bool
        autoStartTimeoutMs int >0
        binds str[]
      prune obj
        idleHours int >=0
        maxAgeDays int >=0
    tools obj
      profile enum(minimal|coding|messaging|full)
      allow str[]
      alsoAllow str[]
      deny str[]
      byProvider map
        * obj
          allow str[]
          alsoAllow str[]
          deny str[]
          profile enum(minimal|coding|messaging|full)
      elevated obj
        enabled bool
        allowFrom map
          * id[]
      exec obj
        host enum(sandbox|gateway|node)
        security enum(deny|allowlist|full)
        ask enum(off|on-miss|always)
        node str
        pathPrepend str[]
        safeBins str[]
        safeBinTrustedDirs str[]
        safeBinProfiles map
          * obj
            minPositional int >=0
            maxPositional int >=0
            allowedValueFlags str[]
            deniedFlags str[]
        backgroundMs int >0
        timeoutSec int >0
        cleanupMs int >0
        notifyOnExit bool
        notifyOnExitEmptySuccess bool
        applyPatch obj
          enabled bool
          workspaceOnly bool
          allowModels str[]
        approvalRunningNoticeMs int >=0
      fs obj
        workspaceOnly bool
      loopDetection obj
        enabled bool
        historySize int >0
        warningThreshold int >0
        criticalThreshold int >0
        globalCircuitBreakerThreshold int >0
        detectors obj
          genericRepeat bool
          knownPollNoProgress bool
          pingPong bool
      sandbox obj
        tools obj
          allow str[]
          alsoAllow str[]
          deny str[]
tools obj
  profile enum(minimal|coding|messaging|full)
  allow str[]
  alsoAllow str[]
  deny str[]
  byProvider map
    * obj
      allow str[]
      alsoAllow str[]
      deny str[]
      profile enum(minimal|coding|messaging|full)
  web obj
    search obj
      enabled bool
      provider enum(brave|perplexity|grok|gemini|kimi)
      apiKey str secret
      maxResults int >0
      timeoutSeconds int >0
      cacheTtlMinutes num >=0
      perplexity obj
        apiKey str secret
        baseUrl str
        model str
      grok obj
        apiKey str secret
        model str
        inlineCitations bool
      gemini obj
        apiKey str secret
        model str
      kimi obj
        apiKey str secret
        baseUrl str
        model str
    fetch obj
      enabled bool
      maxChars int >0
      maxCharsCap int >0
      timeoutSeconds int >0
      cacheTtlMinutes num >=0
      maxRedirects int >=0
      userAgent str
  media obj
    models obj[]
      provider str
      model str
      capabilities enum(image|audio|video)[]
      type enum(provider|cli)
      command str
      args str[]
      maxChars int >0
      maxBytes int >0
      prompt str
      timeoutSeconds int >0
      language str
      providerOptions map
        * map
          * str|num|bool
      deepgram obj
        detectLanguage bool
        punctuate bool
        smartFormat bool
      baseUrl str
      headers map
        * str
      profile str
      preferredProfile str
    concurrency int >0
    image obj
      enabled bool
      scope obj
        default enum(allow|deny)
        rules obj[]
          action enum(allow|deny) !
          match obj
            channel str
            chatType enum(direct|group|channel|dm)
            keyPrefix str
            rawKeyPrefix str
      maxBytes int >0
      maxChars int >0
      prompt str
      timeoutSeconds int >0
      language str
      providerOptions map
        * map
          * str|num|bool
      deepgram obj
        detectLanguage bool
        punctuate bool
        smartFormat bool
      baseUrl str
      headers map
        * str
      attachments obj
        mode enum(first|all)
        maxAttachments int >0
        prefer enum(first|last|path|url)
      models obj[]
        provider str
        model str
        capabilities enum(image|audio|video)[]
        type enum(provider|cli)
        command str
        args str[]
        maxChars int >0
        maxBytes int >0
        prompt str
        timeoutSeconds int >0
        language str
        providerOptions map
          * map
            * str|num|bool
        deepgram obj
          detectLanguage bool
          punctuate bool
          smartFormat bool
        baseUrl str
        headers map
          * str
        profile str
        preferredProfile str
    audio obj
      enabled bool
      scope obj
        default enum(allow|deny)
        rules obj[]
          action enum(allow|deny) !
          match obj
            channel str
            chatType enum(direct|group|channel|dm)
            keyPrefix str
            rawKeyPrefix str
      maxBytes int >0
      maxChars int >0
      prompt str
      timeoutSeconds int >0
      language str
      providerOptions map
        * map
          * str|num|bool
      deepgram obj
        detectLanguage bool
        punctuate bool
        smartFormat bool
      baseUrl str
      headers map
        * str
      attachments obj
        mode enum(first|all)
        maxAttachments int >0
        prefer enum(first|last|path|url)
      models obj[]
        provider str
        model str
        capabilities enum(image|audio|video)[]
        type enum(provider|cli)
        command str
        args str[]
        maxChars int >0
        maxBytes int >0
        prompt str
        timeoutSeconds int >0
        language str
        providerOptions map
          * map
            * str|num|bool
        deepgram obj
          detectLanguage bool
          punctuate bool
          smartFormat bool
        baseUrl str
        headers map
          * str
        profile str
        preferredProfile str
    video obj
      enabled bool
      scope obj
        default enum(allow|deny)
        rules obj[]
          action enum(allow|deny) !
          match obj
            channel str
            chatType enum(direct|group|channel|dm)
            keyPrefix str
            rawKeyPrefix str
      maxBytes int >0
      maxChars int >0
      prompt str
      timeoutSeconds int >0
      language str
      providerOptions map
        * map
          * str|num|bool
      deepgram obj
        detectLanguage bool
        punctuate bool
        smartFormat bool
      baseUrl str
      headers map
        * str
      attachments obj
        mode enum(first|all)
        maxAttachments int >0
        prefer enum(first|last|path|url)
      models obj[]
        provider str
        model str
        capabilities enum(image|audio|video)[]
        type enum(provider|cli)
        command str
        args str[]
        maxChars int >0
        maxBytes int >0
        prompt str
        timeoutSeconds int >0
        language str
        providerOptions map
          * map
            * str|num|bool
        deepgram obj
          detectLanguage bool
          punctuate bool
          smartFormat bool
        baseUrl str
        headers map
          * str
        profile str
        preferredProfile str
  links obj
    enabled bool
    scope obj
      default enum(allow|deny)
      rules obj[]
        action enum(allow|deny) !
        match obj
          channel str
          chatType enum(direct|group|channel|dm)
          keyPrefix str
          rawKeyPrefix str
    maxLinks int >0
    timeoutSeconds int >0
    models obj[]
      type enum(cli)
      command str ! len>=1
      args str[]
      timeoutSeconds int >0
  sessions obj
    visibility enum(self|tree|agent|all)
  loopDetection obj
    enabled bool
    historySize int >0
    warningThreshold int >0
    criticalThreshold int >0
    globalCircuitBreakerThreshold int >0
    detectors obj
      genericRepeat bool
      knownPollNoProgress bool
      pingPong bool
  message obj
    allowCrossContextSend bool
    crossContext obj
      allowWithinProvider bool
      allowAcrossProviders bool
      marker obj
        enabled bool
        prefix str
        suffix str
    broadcast obj
      enabled bool
  agentToAgent obj
    enabled bool
    allow str[]
  elevated obj
    enabled bool
    allowFrom map
      * id[]
  exec obj
    host enum(sandbox|gateway|node)
    security enum(deny|allowlist|full)
    ask enum(off|on-miss|always)
    node str
    pathPrepend str[]
    safeBins str[]
    safeBinTrustedDirs str[]
    safeBinProfiles map
      * obj
        minPositional int >=0
        maxPositional int >=0
        allowedValueFlags str[]
        deniedFlags str[]
    backgroundMs int >0
    timeoutSec int >0
    cleanupMs int >0
    notifyOnExit bool
    notifyOnExitEmptySuccess bool
    applyPatch obj
      enabled bool
      workspaceOnly bool
      allowModels str[]
  fs obj
    workspaceOnly bool
  subagents obj
    tools obj
      allow str[]
      alsoAllow str[]
      deny str[]
  sandbox obj
    tools obj
      allow str[]
      alsoAllow str[]
      deny str[]
bindings obj[]
  agentId str !
  comment str
  match obj !
    channel str !
    accountId str
    peer obj
      kind enum(direct|group|channel|dm) !
      id str !
    guildId str
    teamId str
    roles str[]
broadcast map
  strategy enum(parallel|sequential)
  * str[]
audio obj
  transcription obj
    command str[] !
    timeoutSeconds int >0
media obj
  preserveFilenames bool
messages obj
  messagePrefix str
  responsePrefix str
  groupChat obj
    mentionPatterns str[]
    historyLimit int >0
  queue obj
    mode enum(steer|followup|collect|steer-backlog|steer+backlog|queue|interrupt)
    byChannel obj
      whatsapp enum(steer|followup|collect|steer-backlog|steer+backlog|queue|interrupt)
      telegram enum(steer|followup|collect|steer-backlog|steer+backlog|queue|interrupt)
      discord enum(steer|followup|collect|steer-backlog|steer+backlog|queue|interrupt)
      irc enum(steer|followup|collect|steer-backlog|steer+backlog|queue|interrupt)
      slack enum(steer|followup|collect|steer-backlog|steer+backlog|queue|interrupt)
      mattermost enum(steer|followup|collect|steer-backlog|steer+backlog|queue|interrupt)
      signal enum(steer|followup|collect|steer-backlog|steer+backlog|queue|interrupt)
      imessage enum(steer|followup|collect|steer-backlog|steer+backlog|queue|interrupt)
      msteams enum(steer|followup|collect|steer-backlog|steer+backlog|queue|interrupt)
      webchat enum(steer|followup|collect|steer-backlog|steer+backlog|queue|interrupt)
    debounceMs int >=0
    debounceMsByChannel map
      * int >=0
    cap int >0
    drop enum(old|new|summarize)
  inbound obj
    debounceMs int >=0
    byChannel map
      * int >=0
  ackReaction str
  ackReactionScope enum(group-mentions|group-all|direct|all)
  removeAckAfterReply bool
  statusReactions obj
    enabled bool
    emojis obj
      thinking str
      tool str
      coding str
      web str
      done str
      error str
      stallSoft str
      stallHard str
    timing obj
      debounceMs int >=0
      stallSoftMs int >=0
      stallHardMs int >=0
      doneHoldMs int >=0
      errorHoldMs int >=0
  suppressToolErrors bool
  tts obj
    auto enum(off|always|inbound|tagged)
    enabled bool
    mode enum(final|all)
    provider enum(elevenlabs|openai|edge)
    summaryModel str
    modelOverrides obj
      enabled bool
      allowText bool
      allowProvider bool
      allowVoice bool
      allowModelId bool
      allowVoiceSettings bool
      allowNormalization bool
      allowSeed bool
    elevenlabs obj
      apiKey str secret
      baseUrl str
      voiceId str
      modelId str
      seed int >=0 <=4294967295
      applyTextNormalization enum(auto|on|off)
      languageCode str
      voiceSettings obj
        stability num >=0 <=1
        similarityBoost num >=0 <=1
        style num >=0 <=1
        useSpeakerBoost bool
        speed num >=0.5 <=2
    openai obj
      apiKey str secret
      model str
      voice str
    edge obj
      enabled bool
      voice str
      lang str
      outputFormat str
      pitch str
      rate str
      volume str
      saveSubtitles bool
      proxy str
      timeoutMs int >=1000 <=120000
    prefsPath str
    maxTextLength int >=1
    timeoutMs int >=1000 <=120000
commands obj
  native bool|enum(auto) ="auto"
  nativeSkills bool|enum(auto) ="auto"
  text bool
  bash bool
  bashForegroundMs int >=0 <=30000
  config bool
  debug bool
  restart bool =true
  useAccessGroups bool
  ownerAllowFrom id[]
  ownerDisplay enum(raw|hash) ="raw"
  ownerDisplaySecret str secret
  allowFrom map
    * id[]
approvals obj
  exec obj
    enabled bool
    mode enum(session|targets|both)
    agentFilter str[]
    sessionFilter str[]
    targets obj[]
      channel str ! len>=1
      to str ! len>=1
      accountId str
      threadId str|num
session obj
  scope enum(per-sender|global)
  cache bool
  dmScope enum(main|per-peer|per-channel-peer|per-account-channel-peer)
  identityLinks map
    * str[]
  resetTriggers str[]
  idleMinutes int >0
  reset obj
    mode enum(daily|idle)
    atHour int >=0 <=23
    idleMinutes int >0
  resetByType obj
    direct obj
      mode enum(daily|idle)
      atHour int >=0 <=23
      idleMinutes int >0
    dm obj
      mode enum(daily|idle)
      atHour int >=0 <=23
      idleMinutes int >0
    group obj
      mode enum(daily|idle)
      atHour int >=0 <=23
      idleMinutes int >0
    thread obj
      mode enum(daily|idle)
      atHour int >=0 <=23
      idleMinutes int >0
  resetByChannel map
    * obj
      mode enum(daily|idle)
      atHour int >=0 <=23
      idleMinutes int >0
  store str
  typingIntervalSeconds int >0
  typingMode enum(never|instant|thinking|message)
  parentForkMaxTokens int >=0
  mainKey str
  sendPolicy obj
    default enum(allow|deny)
    rules obj[]
      action enum(allow|deny) !
      match obj
        channel str
        chatType enum(direct|group|channel|dm)
        keyPrefix str
        rawKeyPrefix str
  agentToAgent obj
    maxPingPongTurns int >=0 <=5
  threadBindings obj
    enabled bool
    ttlHours num >=0
  maintenance obj
    mode enum(enforce|warn)
    pruneAfter str|num @age
    pruneDays int >0
    maxEntries int >0
    rotateBytes str|num @bytes
    resetArchiveRetention str|num|false @age
    maxDiskBytes str|num @bytes
    highWaterBytes str|num @bytes
cron obj
  enabled bool
  store str
  maxConcurrentRuns int >0
  webhook str @uri
  webhookToken str secret
  sessionRetention str|false @duration
  runLog obj
    maxBytes str|num @bytes
    keepLines int >0
hooks obj
  enabled bool
  path str
  token str secret
  defaultSessionKey str
  allowRequestSessionKey bool
  allowedSessionKeyPrefixes str[]
  allowedAgentIds str[]
  maxBodyBytes int >0
  presets str[]
  transformsDir str
  mappings obj[]
    id str
    match obj
      path str
      source str
    action enum(wake|agent)
    wakeMode enum(now|next-heartbeat)
    name str
    agentId str
    sessionKey str secret
    messageTemplate str
    textTemplate str
    deliver bool
    allowUnsafeExternalContent bool
    channel enum(last|whatsapp|telegram|discord|irc|slack|signal|imessage|msteams)
    to str
    model str
    thinking str
    timeoutSeconds int >0
    transform obj
      module str !
      export str
  gmail obj
    account str
    label str
    topic str
    subscription str
    pushToken str secret
    hookUrl str
    includeBody bool
    maxBytes int >0
    renewEveryMinutes int >0
    allowUnsafeExternalContent bool
    serve obj
      bind str
      port int >0
      path str
    tailscale obj
      mode enum(off|serve|funnel)
      path str
      target str
    model str
    thinking enum(off|minimal|low|medium|high)
  internal obj
    enabled bool
    handlers obj[]
      event str !
      module str !
      export str
    entries map
      * open
        enabled bool
        env map
          * str
    load obj
      extraDirs str[]
    installs map
      * obj
        source enum(npm|archive|path) !
        spec str
        sourcePath str
        installPath str
        version str
        resolvedName str
        resolvedVersion str
        resolvedSpec str
        integrity str
        shasum str
        resolvedAt str
        installedAt str
        hooks str[]
web obj
  enabled bool
  heartbeatSeconds int >0
  reconnect obj
    initialMs num >0
    maxMs num >0
    factor num >0
    jitter num >=0 <=1
    maxAttempts int >=0
channels open
  defaults obj
    groupPolicy enum(open|disabled|allowlist)
    heartbeat obj
      showOk bool
      showAlerts bool
      useIndicator bool
  modelByChannel map
    * map
      * str
  whatsapp obj
    enabled bool
    capabilities str[]
    markdown obj
      tables enum(off|bullets|code)
    configWrites bool
    sendReadReceipts bool
    messagePrefix str
    responsePrefix str
    dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
    selfChatMode bool
    allowFrom str[]
    defaultTo str
    groupAllowFrom str[]
    groupPolicy enum(open|disabled|allowlist) ="allowlist"
    historyLimit int >=0
    dmHistoryLimit int >=0
    dms map
      * obj
        historyLimit int >=0
    textChunkLimit int >0
    chunkMode enum(length|newline)
    blockStreaming bool
    blockStreamingCoalesce obj
      minChars int >0
      maxChars int >0
      idleMs int >=0
    groups map
      * obj
        requireMention bool
        tools obj
          allow str[]
          alsoAllow str[]
          deny str[]
        toolsBySender map
          * obj
            allow str[]
            alsoAllow str[]
            deny str[]
    ackReaction obj
      emoji str
      direct bool =true
      group enum(always|mentions|never) ="mentions"
    debounceMs int >=0 =0
    heartbeat obj
      showOk bool
      showAlerts bool
      useIndicator bool
    accounts map
      * obj
        enabled bool
        capabilities str[]
        markdown obj
          tables enum(off|bullets|code)
        configWrites bool
        sendReadReceipts bool
        messagePrefix str
        responsePrefix str
        dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
        selfChatMode bool
        allowFrom str[]
        defaultTo str
        groupAllowFrom str[]
        groupPolicy enum(open|disabled|allowlist) ="allowlist"
        historyLimit int >=0
        dmHistoryLimit int >=0
        dms map
          * obj
            historyLimit int >=0
        textChunkLimit int >0
        chunkMode enum(length|newline)
        blockStreaming bool
        blockStreamingCoalesce obj
          minChars int >0
          maxChars int >0
          idleMs int >=0
        groups map
          * obj
            requireMention bool
            tools obj
              allow str[]
              alsoAllow str[]
              deny str[]
            toolsBySender map
              * obj
                allow str[]
                alsoAllow str[]
                deny str[]
        ackReaction obj
          emoji str
          direct bool =true
          group enum(always|mentions|never) ="mentions"
        debounceMs int >=0 =0
        heartbeat obj
          showOk bool
          showAlerts bool
          useIndicator bool
        name str
        authDir str
        mediaMaxMb int >0
    mediaMaxMb int >0 =50
    actions obj
      reactions bool
      sendMessage bool
      polls bool
  telegram obj
    name str
    capabilities str[]|obj
      inlineButtons enum(off|dm|group|all|allowlist)
    markdown obj
      tables enum(off|bullets|code)
    enabled bool
    commands obj
      native bool|enum(auto)
      nativeSkills bool|enum(auto)
    customCommands obj[]
      command str !
      description str !
    configWrites bool
    dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
    botToken str secret
    token str secret
    apiRoot str @uri
    tokenFile str
    replyToMode enum(off|first|all)
    groups map
      * obj
        requireMention bool
        groupPolicy enum(open|disabled|allowlist)
        tools obj
          allow str[]
          alsoAllow str[]
          deny str[]
        toolsBySender map
          * obj
            allow str[]
            alsoAllow str[]
            deny str[]
        skills str[]
        enabled bool
        allowFrom id[]
        systemPrompt str
        topics map
          * obj
            requireMention bool
            groupPolicy enum(open|disabled|allowlist)
            skills str[]
            enabled bool
            allowFrom id[]
            systemPrompt str
    allowFrom id[]
    defaultTo str|num
    groupAllowFrom id[]
    groupPolicy enum(open|disabled|allowlist) ="allowlist"
    historyLimit int >=0
    dmHistoryLimit int >=0
    dms map
      * obj
        historyLimit int >=0
    textChunkLimit int >0
    chunkMode enum(length|newline)
    streaming bool|enum(off|partial|block|progress)
    blockStreaming bool
    draftChunk obj
      minChars int >0
      maxChars int >0
      breakPreference enum(paragraph|newline|sentence)
    blockStreamingCoalesce obj
      minChars int >0
      maxChars int >0
      idleMs int >=0
    streamMode enum(off|partial|block)
    mediaMaxMb num >0
    timeoutSeconds int >0
    retry obj
      attempts int >=1
      minDelayMs int >=0
      maxDelayMs int >=0
      jitter num >=0 <=1
    network obj
      autoSelectFamily bool
      dnsResultOrder enum(ipv4first|verbatim)
    proxy str
    webhookUrl str
    webhookSecret str secret
    webhookPath str
    webhookHost str
    webhookPort int >0
    actions obj
      reactions bool
      sendMessage bool
      deleteMessage bool
      sticker bool
    reactionNotifications enum(off|own|all)
    reactionLevel enum(off|ack|minimal|extensive)
    heartbeat obj
      showOk bool
      showAlerts bool
      useIndicator bool
    linkPreview bool
    responsePrefix str
    ackReaction str
    accounts map
      * obj
        name str
        capabilities str[]|obj
          inlineButtons enum(off|dm|group|all|allowlist)
        markdown obj
          tables enum(off|bullets|code)
        enabled bool
        commands obj
          native bool|enum(auto)
          nativeSkills bool|enum(auto)
        customCommands obj[]
          command str !
          description str !
        configWrites bool
        dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
        botToken str secret
        token str secret
        apiRoot str @uri
        tokenFile str
        replyToMode enum(off|first|all)
        groups map
          * obj
            requireMention bool
            groupPolicy enum(open|disabled|allowlist)
            tools obj
              allow str[]
              alsoAllow str[]
              deny str[]
            toolsBySender map
              * obj
                allow str[]
                alsoAllow str[]
                deny str[]
            skills str[]
            enabled bool
            allowFrom id[]
            systemPrompt str
            topics map
              * obj
                requireMention bool
                groupPolicy enum(open|disabled|allowlist)
                skills str[]
                enabled bool
                allowFrom id[]
                systemPrompt str
        allowFrom id[]
        defaultTo str|num
        groupAllowFrom id[]
        groupPolicy enum(open|disabled|allowlist) ="allowlist"
        historyLimit int >=0
        dmHistoryLimit int >=0
        dms map
          * obj
            historyLimit int >=0
        textChunkLimit int >0
        chunkMode enum(length|newline)
        streaming bool|enum(off|partial|block|progress)
        blockStreaming bool
        draftChunk obj
          minChars int >0
          maxChars int >0
          breakPreference enum(paragraph|newline|sentence)
        blockStreamingCoalesce obj
          minChars int >0
          maxChars int >0
          idleMs int >=0
        streamMode enum(off|partial|block)
        mediaMaxMb num >0
        timeoutSeconds int >0
        retry obj
          attempts int >=1
          minDelayMs int >=0
          maxDelayMs int >=0
          jitter num >=0 <=1
        network obj
          autoSelectFamily bool
          dnsResultOrder enum(ipv4first|verbatim)
        proxy str
        webhookUrl str
        webhookSecret str secret
        webhookPath str
        webhookHost str
        webhookPort int >0
        actions obj
          reactions bool
          sendMessage bool
          deleteMessage bool
          sticker bool
        reactionNotifications enum(off|own|all)
        reactionLevel enum(off|ack|minimal|extensive)
        heartbeat obj
          showOk bool
          showAlerts bool
          useIndicator bool
        linkPreview bool
        responsePrefix str
        ackReaction str
  discord obj
    name str
    capabilities str[]
    markdown obj
      tables enum(off|bullets|code)
    enabled bool
    commands obj
      native bool|enum(auto)
      nativeSkills bool|enum(auto)
    configWrites bool
    token str secret
    proxy str
    allowBots bool
    dangerouslyAllowNameMatching bool
    groupPolicy enum(open|disabled|allowlist) ="allowlist"
    historyLimit int >=0
    dmHistoryLimit int >=0
    dms map
      * obj
        historyLimit int >=0
    textChunkLimit int >0
    chunkMode enum(length|newline)
    blockStreaming bool
    blockStreamingCoalesce obj
      minChars int >0
      maxChars int >0
      idleMs int >=0
    streaming bool|enum(off|partial|block|progress)
    streamMode enum(partial|block|off)
    draftChunk obj
      minChars int >0
      maxChars int >0
      breakPreference enum(paragraph|newline|sentence)
    maxLinesPerMessage int >0
    mediaMaxMb num >0
    retry obj
      attempts int >=1
      minDelayMs int >=0
      maxDelayMs int >=0
      jitter num >=0 <=1
    actions obj
      reactions bool
      stickers bool
      emojiUploads bool
      stickerUploads bool
      polls bool
      permissions bool
      messages bool
      threads bool
      pins bool
      search bool
      memberInfo bool
      roleInfo bool
      roles bool
      channelInfo bool
      voiceStatus bool
      events bool
      moderation bool
      channels bool
      presence bool
    replyToMode enum(off|first|all)
    dmPolicy enum(pairing|allowlist|open|disabled)
    allowFrom id[]
    defaultTo str
    dm obj
      enabled bool
      policy enum(pairing|allowlist|open|disabled)
      allowFrom id[]
      groupEnabled bool
      groupChannels id[]
    guilds map
      * obj
        slug str
        requireMention bool
        tools obj
          allow str[]
          alsoAllow str[]
          deny str[]
        toolsBySender map
          * obj
            allow str[]
            alsoAllow str[]
            deny str[]
        reactionNotifications enum(off|own|all|allowlist)
        users id[]
        roles id[]
        channels map
          * obj
            allow bool
            requireMention bool
            tools obj
              allow str[]
              alsoAllow str[]
              deny str[]
            toolsBySender map
              * obj
                allow str[]
                alsoAllow str[]
                deny str[]
            skills str[]
            enabled bool
            users id[]
            roles id[]
            systemPrompt str
            includeThreadStarter bool
            autoThread bool
    heartbeat obj
      showOk bool
      showAlerts bool
      useIndicator bool
    execApprovals obj
      enabled bool
      approvers id[]
      agentFilter str[]
      sessionFilter str[]
      cleanupAfterResolve bool
      target enum(dm|channel|both)
    ui obj
      components obj
        accentColor str ~^#?[0-9a-fA-F]{6}$
    slashCommand obj
      ephemeral bool
    threadBindings obj
      enabled bool
      ttlHours num >=0
      spawnSubagentSessions bool
    intents obj
      presence bool
      guildMembers bool
    voice obj
      enabled bool
      autoJoin obj[]
        guildId str ! len>=1
        channelId str ! len>=1
      daveEncryption bool
      decryptionFailureTolerance int >=0
      tts obj
        auto enum(off|always|inbound|tagged)
        enabled bool
        mode enum(final|all)
        provider enum(elevenlabs|openai|edge)
        summaryModel str
        modelOverrides obj
          enabled bool
          allowText bool
          allowProvider bool
          allowVoice bool
          allowModelId bool
          allowVoiceSettings bool
          allowNormalization bool
          allowSeed bool
        elevenlabs obj
          apiKey str secret
          baseUrl str
          voiceId str
          modelId str
          seed int >=0 <=4294967295
          applyTextNormalization enum(auto|on|off)
          languageCode str
          voiceSettings obj
            stability num >=0 <=1
            similarityBoost num >=0 <=1
            style num >=0 <=1
            useSpeakerBoost bool
            speed num >=0.5 <=2
        openai obj
          apiKey str secret
          model str
          voice str
        edge obj
          enabled bool
          voice str
          lang str
          outputFormat str
          pitch str
          rate str
          volume str
          saveSubtitles bool
          proxy str
          timeoutMs int >=1000 <=120000
        prefsPath str
        maxTextLength int >=1
        timeoutMs int >=1000 <=120000
    pluralkit obj
      enabled bool
      token str secret
    responsePrefix str
    ackReaction str
    activity str
    status enum(online|dnd|idle|invisible)
    activityType enum(0|1|2|3|4|5)
    activityUrl str @uri
    accounts map
      * obj
        name str
        capabilities str[]
        markdown obj
          tables enum(off|bullets|code)
        enabled bool
        commands obj
          native bool|enum(auto)
          nativeSkills bool|enum(auto)
        configWrites bool
        token str secret
        proxy str
        allowBots bool
        dangerouslyAllowNameMatching bool
        groupPolicy enum(open|disabled|allowlist) ="allowlist"
        historyLimit int >=0
        dmHistoryLimit int >=0
        dms map
          * obj
            historyLimit int >=0
        textChunkLimit int >0
        chunkMode enum(length|newline)
        blockStreaming bool
        blockStreamingCoalesce obj
          minChars int >0
          maxChars int >0
          idleMs int >=0
        streaming bool|enum(off|partial|block|progress)
        streamMode enum(partial|block|off)
        draftChunk obj
          minChars int >0
          maxChars int >0
          breakPreference enum(paragraph|newline|sentence)
        maxLinesPerMessage int >0
        mediaMaxMb num >0
        retry obj
          attempts int >=1
          minDelayMs int >=0
          maxDelayMs int >=0
          jitter num >=0 <=1
        actions obj
          reactions bool
          stickers bool
          emojiUploads bool
          stickerUploads bool
          polls bool
          permissions bool
          messages bool
          threads bool
          pins bool
          search bool
          memberInfo bool
          roleInfo bool
          roles bool
          channelInfo bool
          voiceStatus bool
          events bool
          moderation bool
          channels bool
          presence bool
        replyToMode enum(off|first|all)
        dmPolicy enum(pairing|allowlist|open|disabled)
        allowFrom id[]
        defaultTo str
        dm obj
          enabled bool
          policy enum(pairing|allowlist|open|disabled)
          allowFrom id[]
          groupEnabled bool
          groupChannels id[]
        guilds map
          * obj
            slug str
            requireMention bool
            tools obj
              allow str[]
              alsoAllow str[]
              deny str[]
            toolsBySender map
              * obj
                allow str[]
                alsoAllow str[]
                deny str[]
            reactionNotifications enum(off|own|all|allowlist)
            users id[]
            roles id[]
            channels map
              * obj
                allow bool
                requireMention bool
                tools obj
                  allow str[]
                  alsoAllow str[]
                  deny str[]
                toolsBySender map
                  * obj
                    allow str[]
                    alsoAllow str[]
                    deny str[]
                skills str[]
                enabled bool
                users id[]
                roles id[]
                systemPrompt str
                includeThreadStarter bool
                autoThread bool
        heartbeat obj
          showOk bool
          showAlerts bool
          useIndicator bool
        execApprovals obj
          enabled bool
          approvers id[]
          agentFilter str[]
          sessionFilter str[]
          cleanupAfterResolve bool
          target enum(dm|channel|both)
        ui obj
          components obj
            accentColor str ~^#?[0-9a-fA-F]{6}$
        slashCommand obj
          ephemeral bool
        threadBindings obj
          enabled bool
          ttlHours num >=0
          spawnSubagentSessions bool
        intents obj
          presence bool
          guildMembers bool
        voice obj
          enabled bool
          autoJoin obj[]
            guildId str ! len>=1
            channelId str ! len>=1
          daveEncryption bool
          decryptionFailureTolerance int >=0
          tts obj
            auto enum(off|always|inbound|tagged)
            enabled bool
            mode enum(final|all)
            provider enum(elevenlabs|openai|edge)
            summaryModel str
            modelOverrides obj
              enabled bool
              allowText bool
              allowProvider bool
              allowVoice bool
              allowModelId bool
              allowVoiceSettings bool
              allowNormalization bool
              allowSeed bool
            elevenlabs obj
              apiKey str secret
              baseUrl str
              voiceId str
              modelId str
              seed int >=0 <=4294967295
              applyTextNormalization enum(auto|on|off)
              languageCode str
              voiceSettings obj
                stability num >=0 <=1
                similarityBoost num >=0 <=1
                style num >=0 <=1
                useSpeakerBoost bool
                speed num >=0.5 <=2
            openai obj
              apiKey str secret
              model str
              voice str
            edge obj
              enabled bool
              voice str
              lang str
              outputFormat str
              pitch str
              rate str
              volume str
              saveSubtitles bool
              proxy str
              timeoutMs int >=1000 <=120000
            prefsPath str
            maxTextLength int >=1
            timeoutMs int >=1000 <=120000
        pluralkit obj
          enabled bool
          token str secret
        responsePrefix str
        ackReaction str
        activity str
        status enum(online|dnd|idle|invisible)
        activityType enum(0|1|2|3|4|5)
        activityUrl str @uri
  irc obj
    name str
    capabilities str[]
    markdown obj
      tables enum(off|bullets|code)
    enabled bool
    configWrites bool
    host str
    port int >=1 <=65535
    tls bool
    nick str
    username str
    realname str
    password str secret
    passwordFile str
    nickserv obj
      enabled bool
      service str
      password str secret
      passwordFile str
      register bool
      registerEmail str
    channels str[]
    dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
    allowFrom id[]
    defaultTo str
    groupAllowFrom id[]
    groupPolicy enum(open|disabled|allowlist) ="allowlist"
    groups map
      * obj
        requireMention bool
        tools obj
          allow str[]
          alsoAllow str[]
          deny str[]
        toolsBySender map
          * obj
            allow str[]
            alsoAllow str[]
            deny str[]
        skills str[]
        enabled bool
        allowFrom id[]
        systemPrompt str
    mentionPatterns str[]
    historyLimit int >=0
    dmHistoryLimit int >=0
    dms map
      * obj
        historyLimit int >=0
    textChunkLimit int >0
    chunkMode enum(length|newline)
    blockStreaming bool
    blockStreamingCoalesce obj
      minChars int >0
      maxChars int >0
      idleMs int >=0
    mediaMaxMb num >0
    heartbeat obj
      showOk bool
      showAlerts bool
      useIndicator bool
    responsePrefix str
    accounts map
      * obj
        name str
        capabilities str[]
        markdown obj
          tables enum(off|bullets|code)
        enabled bool
        configWrites bool
        host str
        port int >=1 <=65535
        tls bool
        nick str
        username str
        realname str
        password str secret
        passwordFile str
        nickserv obj
          enabled bool
          service str
          password str secret
          passwordFile str
          register bool
          registerEmail str
        channels str[]
        dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
        allowFrom id[]
        defaultTo str
        groupAllowFrom id[]
        groupPolicy enum(open|disabled|allowlist) ="allowlist"
        groups map
          * obj
            requireMention bool
            tools obj
              allow str[]
              alsoAllow str[]
              deny str[]
            toolsBySender map
              * obj
                allow str[]
                alsoAllow str[]
                deny str[]
            skills str[]
            enabled bool
            allowFrom id[]
            systemPrompt str
        mentionPatterns str[]
        historyLimit int >=0
        dmHistoryLimit int >=0
        dms map
          * obj
            historyLimit int >=0
        textChunkLimit int >0
        chunkMode enum(length|newline)
        blockStreaming bool
        blockStreamingCoalesce obj
          minChars int >0
          maxChars int >0
          idleMs int >=0
        mediaMaxMb num >0
        heartbeat obj
          showOk bool
          showAlerts bool
          useIndicator bool
        responsePrefix str
  googlechat obj
    name str
    capabilities str[]
    enabled bool
    configWrites bool
    allowBots bool
    dangerouslyAllowNameMatching bool
    requireMention bool
    groupPolicy enum(open|disabled|allowlist) ="allowlist"
    groupAllowFrom id[]
    groups map
      * obj
        enabled bool
        allow bool
        requireMention bool
        users id[]
        systemPrompt str
    defaultTo str
    serviceAccount str|obj
    serviceAccountFile str
    audienceType enum(app-url|project-number)
    audience str
    webhookPath str
    webhookUrl str
    botUser str
    historyLimit int >=0
    dmHistoryLimit int >=0
    dms map
      * obj
        historyLimit int >=0
    textChunkLimit int >0
    chunkMode enum(length|newline)
    blockStreaming bool
    blockStreamingCoalesce obj
      minChars int >0
      maxChars int >0
      idleMs int >=0
    streamMode enum(replace|status_final|append) ="replace"
    mediaMaxMb num >0
    replyToMode enum(off|first|all)
    actions obj
      reactions bool
    dm obj
      enabled bool
      policy enum(pairing|allowlist|open|disabled) ="pairing"
      allowFrom id[]
    typingIndicator enum(none|message|reaction)
    responsePrefix str
    accounts map
      * obj
        name str
        capabilities str[]
        enabled bool
        configWrites bool
        allowBots bool
        dangerouslyAllowNameMatching bool
        requireMention bool
        groupPolicy enum(open|disabled|allowlist) ="allowlist"
        groupAllowFrom id[]
        groups map
          * obj
            enabled bool
            allow bool
            requireMention bool
            users id[]
            systemPrompt str
        defaultTo str
        serviceAccount str|obj
        serviceAccountFile str
        audienceType enum(app-url|project-number)
        audience str
        webhookPath str
        webhookUrl str
        botUser str
        historyLimit int >=0
        dmHistoryLimit int >=0
        dms map
          * obj
            historyLimit int >=0
        textChunkLimit int >0
        chunkMode enum(length|newline)
        blockStreaming bool
        blockStreamingCoalesce obj
          minChars int >0
          maxChars int >0
          idleMs int >=0
        streamMode enum(replace|status_final|append) ="replace"
        mediaMaxMb num >0
        replyToMode enum(off|first|all)
        actions obj
          reactions bool
        dm obj
          enabled bool
          policy enum(pairing|allowlist|open|disabled) ="pairing"
          allowFrom id[]
        typingIndicator enum(none|message|reaction)
        responsePrefix str
    defaultAccount str
  slack obj
    name str
    mode enum(socket|http) ="socket"
    signingSecret str secret
    webhookPath str ="/slack/events"
    capabilities str[]
    markdown obj
      tables enum(off|bullets|code)
    enabled bool
    commands obj
      native bool|enum(auto)
      nativeSkills bool|enum(auto)
    configWrites bool
    botToken str secret
    appToken str secret
    userToken str secret
    userTokenReadOnly bool =true
    allowBots bool
    dangerouslyAllowNameMatching bool
    requireMention bool
    groupPolicy enum(open|disabled|allowlist) ="allowlist"
    historyLimit int >=0
    dmHistoryLimit int >=0
    dms map
      * obj
        historyLimit int >=0
    textChunkLimit int >0
    chunkMode enum(length|newline)
    blockStreaming bool
    blockStreamingCoalesce obj
      minChars int >0
      maxChars int >0
      idleMs int >=0
    streaming bool|enum(off|partial|block|progress)
    nativeStreaming bool
    streamMode enum(replace|status_final|append)
    mediaMaxMb num >0
    reactionNotifications enum(off|own|all|allowlist)
    reactionAllowlist id[]
    replyToMode enum(off|first|all)
    replyToModeByChatType obj
      direct enum(off|first|all)
      group enum(off|first|all)
      channel enum(off|first|all)
    thread obj
      historyScope enum(thread|channel)
      inheritParent bool
      initialHistoryLimit int >=0
    actions obj
      reactions bool
      messages bool
      pins bool
      search bool
      permissions bool
      memberInfo bool
      channelInfo bool
      emojiList bool
    slashCommand obj
      enabled bool
      name str
      sessionPrefix str
      ephemeral bool
    dmPolicy enum(pairing|allowlist|open|disabled)
    allowFrom id[]
    defaultTo str
    dm obj
      enabled bool
      policy enum(pairing|allowlist|open|disabled)
      allowFrom id[]
      groupEnabled bool
      groupChannels id[]
      replyToMode enum(off|first|all)
    channels map
      * obj
        enabled bool
        allow bool
        requireMention bool
        tools obj
          allow str[]
          alsoAllow str[]
          deny str[]
        toolsBySender map
          * obj
            allow str[]
            alsoAllow str[]
            deny str[]
        allowBots bool
        users id[]
        skills str[]
        systemPrompt str
    heartbeat obj
      showOk bool
      showAlerts bool
      useIndicator bool
    responsePrefix str
    ackReaction str
    accounts map
      * obj
        name str
        mode enum(socket|http)
        signingSecret str secret
        webhookPath str
        capabilities str[]
        markdown obj
          tables enum(off|bullets|code)
        enabled bool
        commands obj
          native bool|enum(auto)
          nativeSkills bool|enum(auto)
        configWrites bool
        botToken str secret
        appToken str secret
        userToken str secret
        userTokenReadOnly bool =true
        allowBots bool
        dangerouslyAllowNameMatching bool
        requireMention bool
        groupPolicy enum(open|disabled|allowlist)
        historyLimit int >=0
        dmHistoryLimit int >=0
        dms map
          * obj
            historyLimit int >=0
        textChunkLimit int >0
        chunkMode enum(length|newline)
        blockStreaming bool
        blockStreamingCoalesce obj
          minChars int >0
          maxChars int >0
          idleMs int >=0
        streaming bool|enum(off|partial|block|progress)
        nativeStreaming bool
        streamMode enum(replace|status_final|append)
        mediaMaxMb num >0
        reactionNotifications enum(off|own|all|allowlist)
        reactionAllowlist id[]
        replyToMode enum(off|first|all)
        replyToModeByChatType obj
          direct enum(off|first|all)
          group enum(off|first|all)
          channel enum(off|first|all)
        thread obj
          historyScope enum(thread|channel)
          inheritParent bool
          initialHistoryLimit int >=0
        actions obj
          reactions bool
          messages bool
          pins bool
          search bool
          permissions bool
          memberInfo bool
          channelInfo bool
          emojiList bool
        slashCommand obj
          enabled bool
          name str
          sessionPrefix str
          ephemeral bool
        dmPolicy enum(pairing|allowlist|open|disabled)
        allowFrom id[]
        defaultTo str
        dm obj
          enabled bool
          policy enum(pairing|allowlist|open|disabled)
          allowFrom id[]
          groupEnabled bool
          groupChannels id[]
          replyToMode enum(off|first|all)
        channels map
          * obj
            enabled bool
            allow bool
            requireMention bool
            tools obj
              allow str[]
              alsoAllow str[]
              deny str[]
            toolsBySender map
              * obj
                allow str[]
                alsoAllow str[]
                deny str[]
            allowBots bool
            users id[]
            skills str[]
            systemPrompt str
        heartbeat obj
          showOk bool
          showAlerts bool
          useIndicator bool
        responsePrefix str
        ackReaction str
  signal obj
    name str
    capabilities str[]
    markdown obj
      tables enum(off|bullets|code)
    enabled bool
    configWrites bool
    account str
    httpUrl str
    httpHost str
    httpPort int >0
    cliPath str
    autoStart bool
    startupTimeoutMs int >=1000 <=120000
    receiveMode enum(on-start|manual)
    ignoreAttachments bool
    ignoreStories bool
    sendReadReceipts bool
    dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
    allowFrom id[]
    defaultTo str
    groupAllowFrom id[]
    groupPolicy enum(open|disabled|allowlist) ="allowlist"
    historyLimit int >=0
    dmHistoryLimit int >=0
    dms map
      * obj
        historyLimit int >=0
    textChunkLimit int >0
    chunkMode enum(length|newline)
    blockStreaming bool
    blockStreamingCoalesce obj
      minChars int >0
      maxChars int >0
      idleMs int >=0
    mediaMaxMb int >0
    reactionNotifications enum(off|own|all|allowlist)
    reactionAllowlist id[]
    actions obj
      reactions bool
    reactionLevel enum(off|ack|minimal|extensive)
    heartbeat obj
      showOk bool
      showAlerts bool
      useIndicator bool
    responsePrefix str
    accounts map
      * obj
        name str
        capabilities str[]
        markdown obj
          tables enum(off|bullets|code)
        enabled bool
        configWrites bool
        account str
        httpUrl str
        httpHost str
        httpPort int >0
        cliPath str
        autoStart bool
        startupTimeoutMs int >=1000 <=120000
        receiveMode enum(on-start|manual)
        ignoreAttachments bool
        ignoreStories bool
        sendReadReceipts bool
        dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
        allowFrom id[]
        defaultTo str
        groupAllowFrom id[]
        groupPolicy enum(open|disabled|allowlist) ="allowlist"
        historyLimit int >=0
        dmHistoryLimit int >=0
        dms map
          * obj
            historyLimit int >=0
        textChunkLimit int >0
        chunkMode enum(length|newline)
        blockStreaming bool
        blockStreamingCoalesce obj
          minChars int >0
          maxChars int >0
          idleMs int >=0
        mediaMaxMb int >0
        reactionNotifications enum(off|own|all|allowlist)
        reactionAllowlist id[]
        actions obj
          reactions bool
        reactionLevel enum(off|ack|minimal|extensive)
        heartbeat obj
          showOk bool
          showAlerts bool
          useIndicator bool
        responsePrefix str
  imessage obj
    name str
    capabilities str[]
    markdown obj
      tables enum(off|bullets|code)
    enabled bool
    configWrites bool
    cliPath str
    dbPath str
    remoteHost str
    service enum(imessage|sms|auto)
    region str
    dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
    allowFrom id[]
    defaultTo str
    groupAllowFrom id[]
    groupPolicy enum(open|disabled|allowlist) ="allowlist"
    historyLimit int >=0
    dmHistoryLimit int >=0
    dms map
      * obj
        historyLimit int >=0
    includeAttachments bool
    attachmentRoots str[]
    remoteAttachmentRoots str[]
    mediaMaxMb int >0
    textChunkLimit int >0
    chunkMode enum(length|newline)
    blockStreaming bool
    blockStreamingCoalesce obj
      minChars int >0
      maxChars int >0
      idleMs int >=0
    groups map
      * obj
        requireMention bool
        tools obj
          allow str[]
          alsoAllow str[]
          deny str[]
        toolsBySender map
          * obj
            allow str[]
            alsoAllow str[]
            deny str[]
    heartbeat obj
      showOk bool
      showAlerts bool
      useIndicator bool
    responsePrefix str
    accounts map
      * obj
        name str
        capabilities str[]
        markdown obj
          tables enum(off|bullets|code)
        enabled bool
        configWrites bool
        cliPath str
        dbPath str
        remoteHost str
        service enum(imessage|sms|auto)
        region str
        dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
        allowFrom id[]
        defaultTo str
        groupAllowFrom id[]
        groupPolicy enum(open|disabled|allowlist) ="allowlist"
        historyLimit int >=0
        dmHistoryLimit int >=0
        dms map
          * obj
            historyLimit int >=0
        includeAttachments bool
        attachmentRoots str[]
        remoteAttachmentRoots str[]
        mediaMaxMb int >0
        textChunkLimit int >0
        chunkMode enum(length|newline)
        blockStreaming bool
        blockStreamingCoalesce obj
          minChars int >0
          maxChars int >0
          idleMs int >=0
        groups map
          * obj
            requireMention bool
            tools obj
              allow str[]
              alsoAllow str[]
              deny str[]
            toolsBySender map
              * obj
                allow str[]
                alsoAllow str[]
                deny str[]
        heartbeat obj
          showOk bool
          showAlerts bool
          useIndicator bool
        responsePrefix str
  bluebubbles obj
    name str
    capabilities str[]
    markdown obj
      tables enum(off|bullets|code)
    configWrites bool
    enabled bool
    serverUrl str
    password str secret
    webhookPath str
    dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
    allowFrom id[]
    groupAllowFrom id[]
    groupPolicy enum(open|disabled|allowlist) ="allowlist"
    historyLimit int >=0
    dmHistoryLimit int >=0
    dms map
      * obj
        historyLimit int >=0
    textChunkLimit int >0
    chunkMode enum(length|newline)
    mediaMaxMb int >0
    mediaLocalRoots str[]
    sendReadReceipts bool
    blockStreaming bool
    blockStreamingCoalesce obj
      minChars int >0
      maxChars int >0
      idleMs int >=0
    groups map
      * obj
        requireMention bool
        tools obj
          allow str[]
          alsoAllow str[]
          deny str[]
        toolsBySender map
          * obj
            allow str[]
            alsoAllow str[]
            deny str[]
    heartbeat obj
      showOk bool
      showAlerts bool
      useIndicator bool
    responsePrefix str
    accounts map
      * obj
        name str
        capabilities str[]
        markdown obj
          tables enum(off|bullets|code)
        configWrites bool
        enabled bool
        serverUrl str
        password str secret
        webhookPath str
        dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
        allowFrom id[]
        groupAllowFrom id[]
        groupPolicy enum(open|disabled|allowlist) ="allowlist"
        historyLimit int >=0
        dmHistoryLimit int >=0
        dms map
          * obj
            historyLimit int >=0
        textChunkLimit int >0
        chunkMode enum(length|newline)
        mediaMaxMb int >0
        mediaLocalRoots str[]
        sendReadReceipts bool
        blockStreaming bool
        blockStreamingCoalesce obj
          minChars int >0
          maxChars int >0
          idleMs int >=0
        groups map
          * obj
            requireMention bool
            tools obj
              allow str[]
              alsoAllow str[]
              deny str[]
            toolsBySender map
              * obj
                allow str[]
                alsoAllow str[]
                deny str[]
        heartbeat obj
          showOk bool
          showAlerts bool
          useIndicator bool
        responsePrefix str
    actions obj
      reactions bool
      edit bool
      unsend bool
      reply bool
      sendWithEffect bool
      renameGroup bool
      setGroupIcon bool
      addParticipant bool
      removeParticipant bool
      leaveGroup bool
      sendAttachment bool
  msteams obj
    enabled bool
    capabilities str[]
    dangerouslyAllowNameMatching bool
    markdown obj
      tables enum(off|bullets|code)
    configWrites bool
    appId str
    appPassword str secret
    tenantId str
    webhook obj
      port int >0
      path str
    dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
    allowFrom str[]
    defaultTo str
    groupAllowFrom str[]
    groupPolicy enum(open|disabled|allowlist) ="allowlist"
    textChunkLimit int >0
    chunkMode enum(length|newline)
    blockStreamingCoalesce obj
      minChars int >0
      maxChars int >0
      idleMs int >=0
    mediaAllowHosts str[]
    mediaAuthAllowHosts str[]
    requireMention bool
    historyLimit int >=0
    dmHistoryLimit int >=0
    dms map
      * obj
        historyLimit int >=0
    replyStyle enum(thread|top-level)
    teams map
      * obj
        requireMention bool
        tools obj
          allow str[]
          alsoAllow str[]
          deny str[]
        toolsBySender map
          * obj
            allow str[]
            alsoAllow str[]
            deny str[]
        replyStyle enum(thread|top-level)
        channels map
          * obj
            requireMention bool
            tools obj
              allow str[]
              alsoAllow str[]
              deny str[]
            toolsBySender map
              * obj
                allow str[]
                alsoAllow str[]
                deny str[]
            replyStyle enum(thread|top-level)
    mediaMaxMb num >0
    sharePointSiteId str
    heartbeat obj
      showOk bool
      showAlerts bool
      useIndicator bool
    responsePrefix str
  mattermost obj
    name str
    capabilities str[]
    dangerouslyAllowNameMatching bool
    markdown obj
      tables enum(off|bullets|code)
    enabled bool
    configWrites bool
    botToken str secret
    baseUrl str
    chatmode enum(oncall|onmessage|onchar)
    oncharPrefixes str[]
    requireMention bool
    dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
    allowFrom id[]
    groupAllowFrom id[]
    groupPolicy enum(open|disabled|allowlist) ="allowlist"
    textChunkLimit int >0
    chunkMode enum(length|newline)
    blockStreaming bool
    blockStreamingCoalesce obj
      minChars int >0
      maxChars int >0
      idleMs int >=0
    responsePrefix str
    actions obj
      reactions bool
    accounts map
      * obj
        name str
        capabilities str[]
        dangerouslyAllowNameMatching bool
        markdown obj
          tables enum(off|bullets|code)
        enabled bool
        configWrites bool
        botToken str
        baseUrl str
        chatmode enum(oncall|onmessage|onchar)
        oncharPrefixes str[]
        requireMention bool
        dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
        allowFrom id[]
        groupAllowFrom id[]
        groupPolicy enum(open|disabled|allowlist) ="allowlist"
        textChunkLimit int >0
        chunkMode enum(length|newline)
        blockStreaming bool
        blockStreamingCoalesce obj
          minChars int >0
          maxChars int >0
          idleMs int >=0
        responsePrefix str
        actions obj
          reactions bool
  nextcloud-talk obj
    name str
    enabled bool
    markdown obj
      tables enum(off|bullets|code)
    baseUrl str
    botSecret str
    botSecretFile str
    apiUser str
    apiPassword str
    apiPasswordFile str
    dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
    webhookPort int >0
    webhookHost str
    webhookPath str
    webhookPublicUrl str
    allowFrom str[]
    groupAllowFrom str[]
    groupPolicy enum(open|disabled|allowlist) ="allowlist"
    rooms map
      * obj
        requireMention bool
        tools obj
          allow str[]
          alsoAllow str[]
          deny str[]
        skills str[]
        enabled bool
        allowFrom str[]
        systemPrompt str
    historyLimit int >=0
    dmHistoryLimit int >=0
    dms map
      * obj
        historyLimit int >=0
    textChunkLimit int >0
    chunkMode enum(length|newline)
    blockStreaming bool
    blockStreamingCoalesce obj
      minChars int >0
      maxChars int >0
      idleMs int >=0
    responsePrefix str
    mediaMaxMb num >0
    accounts map
      * obj
        name str
        enabled bool
        markdown obj
          tables enum(off|bullets|code)
        baseUrl str
        botSecret str
        botSecretFile str
        apiUser str
        apiPassword str
        apiPasswordFile str
        dmPolicy enum(pairing|allowlist|open|disabled) ="pairing"
        webhookPort int >0
        webhookHost str
        webhookPath str
        webhookPublicUrl str
        allowFrom str[]
        groupAllowFrom str[]
        groupPolicy enum(open|disabled|allowlist) ="allowlist"
        rooms map
          * obj
            requireMention bool
            tools obj
              allow str[]
              alsoAllow str[]
              deny str[]
            skills str[]
            enabled bool
            allowFrom str[]
            systemPrompt str
        historyLimit int >=0
        dmHistoryLimit int >=0
        dms map
          * obj
            historyLimit int >=0
        textChunkLimit int >0
        chunkMode enum(length|newline)
        blockStreaming bool
        blockStreamingCoalesce obj
          minChars int >0
          maxChars int >0
          idleMs int >=0
        responsePrefix str
        mediaMaxMb num >0
  feishu obj
    enabled bool
    name str
    appId str
    appSecret str secret
    encryptKey str secret
    verificationToken str secret
    domain str
    connectionMode enum(websocket|webhook)
    webhookPath str
    webhookHost str
    webhookPort int >=1
    dmPolicy enum(open|pairing|allowlist|disabled)
    allowFrom id[]
    groupPolicy enum(open|allowlist|disabled)
    groupAllowFrom id[]
    requireMention bool
    groups map
      * obj
        enabled bool
        requireMention bool
        allowFrom id[]
        tools obj
          allow str[]
          alsoAllow str[]
          deny str[]
        toolsBySender map
          * obj
            allow str[]
            alsoAllow str[]
            deny str[]
        skills str[]
        systemPrompt str
        topicSessionMode enum(disabled|enabled)
        replyInThread enum(disabled|enabled)
    topicSessionMode enum(disabled|enabled)
    replyInThread enum(disabled|enabled)
    replyToMode enum(off|first|all)
    defaultTo str
    historyLimit int >=0
    dmHistoryLimit int >=0
    dms map
      * obj
        historyLimit int >=0
    textChunkLimit int >=1
    chunkMode enum(length|newline)
    blockStreaming bool
    blockStreamingCoalesce obj
      minChars int >0
      maxChars int >0
      idleMs int >=0
    responsePrefix str
    mediaMaxMb num >=0 =30
    heartbeat obj
      showOk bool
      showAlerts bool
      useIndicator bool
    capabilities str[]
    configWrites bool
    markdown obj
      mode enum(native|escape|strip)
      tableMode enum(native|ascii|simple)
      tables enum(off|bullets|code)
    renderMode enum(auto|raw|card)
    streaming bool
    ackReaction str
    typingIndicator bool
    reactionNotifications enum(off|own|all)
    resolveSenderNames bool
    tools obj
      doc bool
      wiki bool
      drive bool
      perm bool
      scopes bool
      bitable bool
      chat bool
    dynamicAgentCreation obj
      enabled bool
      workspaceTemplate str
      agentDirTemplate str
      maxAgents int >=1
    defaultAccount str
    accounts map
      * obj
        enabled bool
        name str
        appId str
        appSecret str secret
        encryptKey str secret
        verificationToken str secret
        domain str
        connectionMode enum(websocket|webhook)
        webhookPath str
        webhookHost str
        webhookPort int >=1
        dmPolicy enum(open|pairing|allowlist|disabled)
        allowFrom id[]
        groupPolicy enum(open|allowlist|disabled)
        groupAllowFrom id[]
        requireMention bool
        groups map
          * obj
            enabled bool
            requireMention bool
            allowFrom id[]
            tools obj
              allow str[]
              alsoAllow str[]
              deny str[]
            toolsBySender map
              * obj
                allow str[]
                alsoAllow str[]
                deny str[]
            skills str[]
            systemPrompt str
            topicSessionMode enum(disabled|enabled)
            replyInThread enum(disabled|enabled)
        topicSessionMode enum(disabled|enabled)
        replyInThread enum(disabled|enabled)
        replyToMode enum(off|first|all)
        defaultTo str
        historyLimit int >=0
        dmHistoryLimit int >=0
        dms map
          * obj
            historyLimit int >=0
        textChunkLimit int >=1
        chunkMode enum(length|newline)
        blockStreaming bool
        blockStreamingCoalesce obj
          minChars int >0
          maxChars int >0
          idleMs int >=0
        responsePrefix str
        mediaMaxMb num >=0
        heartbeat obj
          showOk bool
          showAlerts bool
          useIndicator bool
        capabilities str[]
        configWrites bool
        markdown obj
          mode enum(native|escape|strip)
          tableMode enum(native|ascii|simple)
          tables enum(off|bullets|code)
        renderMode enum(auto|raw|card)
        streaming bool
        ackReaction str
        typingIndicator bool
        reactionNotifications enum(off|own|all)
        resolveSenderNames bool
        tools obj
          doc bool
          wiki bool
          drive bool
          perm bool
          scopes bool
          bitable bool
          chat bool
        dynamicAgentCreation obj
          enabled bool
          workspaceTemplate str
          agentDirTemplate str
          maxAgents int >=1
  zalo obj
    name str
    enabled bool
    markdown obj
      tables enum(off|bullets|code)
    botToken str
    tokenFile str
    webhookUrl str
    webhookSecret str
    webhookPath str
    dmPolicy enum(pairing|allowlist|open|disabled)
    allowFrom id[]
    groupPolicy enum(disabled|allowlist|open)
    groupAllowFrom id[]
    mediaMaxMb num
    proxy str
    responsePrefix str
    accounts map
      * obj
        name str
        enabled bool
        markdown obj
          tables enum(off|bullets|code)
        botToken str
        tokenFile str
        webhookUrl str
        webhookSecret str
        webhookPath str
        dmPolicy enum(pairing|allowlist|open|disabled)
        allowFrom id[]
        groupPolicy enum(disabled|allowlist|open)
        groupAllowFrom id[]
        mediaMaxMb num
        proxy str
        responsePrefix str
    defaultAccount str
  zalouser obj
    name str
    enabled bool
    markdown obj
      tables enum(off|bullets|code)
    profile str
    dmPolicy enum(pairing|allowlist|open|disabled)
    allowFrom id[]
    groupPolicy enum(disabled|allowlist|open)
    groups map
      * obj
        allow bool
        enabled bool
        tools obj
          allow str[]
          alsoAllow str[]
          deny str[]
    messagePrefix str
    responsePrefix str
    accounts map
      * obj
        name str
        enabled bool
        markdown obj
          tables enum(off|bullets|code)
        profile str
        dmPolicy enum(pairing|allowlist|open|disabled)
        allowFrom id[]
        groupPolicy enum(disabled|allowlist|open)
        groups map
          * obj
            allow bool
            enabled bool
            tools obj
              allow str[]
              alsoAllow str[]
              deny str[]
        messagePrefix str
        responsePrefix str
    defaultAccount str
  synology-chat open
  line obj
    enabled bool
    channelAccessToken str
    channelSecret str
    tokenFile str
    secretFile str
    name str
    allowFrom id[]
    groupAllowFrom id[]
    dmPolicy enum(open|allowlist|pairing|disabled) ="pairing"
    groupPolicy enum(open|allowlist|disabled) ="allowlist"
    responsePrefix str
    mediaMaxMb num
    webhookPath str
    accounts map
      * obj
        enabled bool
        channelAccessToken str
        channelSecret str
        tokenFile str
        secretFile str
        name str
        allowFrom id[]
        groupAllowFrom id[]
        dmPolicy enum(open|allowlist|pairing|disabled) ="pairing"
        groupPolicy enum(open|allowlist|disabled) ="allowlist"
        responsePrefix str
        mediaMaxMb num
        webhookPath str
        groups map
          * obj
            enabled bool
            allowFrom id[]
            requireMention bool
            systemPrompt str
            skills str[]
    groups map
      * obj
        enabled bool
        allowFrom id[]
        requireMention bool
        systemPrompt str
        skills str[]
discovery obj
  wideArea obj
    enabled bool
  mdns obj
    mode enum(off|minimal|full)
canvasHost obj
  enabled bool
  root str
  port int >0
  liveReload bool
talk obj
  provider str
  providers map
    * open
      voiceId str
      voiceAliases map
        * str
      modelId str
      outputFormat str
      apiKey str secret
  voiceId str
  voiceAliases map
    * str
  modelId str
  outputFormat str
  apiKey str secret
  interruptOnSpeech bool
gateway obj
  port int >0
  mode enum(local|remote)
  bind enum(auto|lan|loopback|custom|tailnet)
  customBindHost str
  controlUi obj
    enabled bool
    basePath str
    root str
    allowedOrigins str[]
    dangerouslyAllowHostHeaderOriginFallback bool
    allowInsecureAuth bool
    dangerouslyDisableDeviceAuth bool
  auth obj
    mode enum(none|token|password|trusted-proxy)
    token str secret
    password str secret
    allowTailscale bool
    rateLimit obj
      maxAttempts num
      windowMs num
      lockoutMs num
      exemptLoopback bool
    trustedProxy obj
      userHeader str ! len>=1
      requiredHeaders str[]
      allowUsers str[]
  trustedProxies str[]
  allowRealIpFallback bool
  tools obj
    deny str[]
    allow str[]
  channelHealthCheckMinutes int >=0
  tailscale obj
    mode enum(off|serve|funnel)
    resetOnExit bool
  remote obj
    url str
    transport enum(ssh|direct)
    token str secret
    password str secret
    tlsFingerprint str
    sshTarget str
    sshIdentity str
  reload obj
    mode enum(off|restart|hot|hybrid)
    debounceMs int >=0
  tls obj
    enabled bool
    autoGenerate bool
    certPath str
    keyPath str
    caPath str
  http obj
    endpoints obj
      chatCompletions obj
        enabled bool
      responses obj
        enabled bool
        maxBodyBytes int >0
        maxUrlParts int >=0
        files obj
          allowUrl bool
          urlAllowlist str[]
          allowedMimes str[]
          maxBytes int >0
          maxChars int >0
          maxRedirects int >=0
          timeoutMs int >0
          pdf obj
            maxPages int >0
            maxPixels int >0
            minTextChars int >=0
        images obj
          allowUrl bool
          urlAllowlist str[]
          allowedMimes str[]
          maxBytes int >0
          maxRedirects int >=0
          timeoutMs int >0
    securityHeaders obj
      strictTransportSecurity str|false
  nodes obj
    browser obj
      mode enum(auto|manual|off)
      node str
    allowCommands str[]
    denyCommands str[]
memory obj
  backend enum(builtin|qmd)
  citations enum(auto|on|off)
  qmd obj
    command str
    mcporter obj
      enabled bool
      serverName str
      startDaemon bool
    searchMode enum(query|search|vsearch)
    includeDefaultMemory bool
    paths obj[]
      path str !
      name str
      pattern str
    sessions obj
      enabled bool
      exportDir str
      retentionDays int >=0
    update obj
      interval str
      debounceMs int >=0
      onBoot bool
      waitForBootSync bool
      embedInterval str
      commandTimeoutMs int >=0
      updateTimeoutMs int >=0
      embedTimeoutMs int >=0
    limits obj
      maxResults int >0
      maxSnippetChars int >0
      maxInjectedChars int >0
      timeoutMs int >=0
    scope obj
      default enum(allow|deny)
      rules obj[]
        action enum(allow|deny) !
        match obj
          channel str
          chatType enum(direct|group|channel|dm)
          keyPrefix str
          rawKeyPrefix str
skills obj
  allowBundled str[]
  load obj
    extraDirs str[]
    watch bool
    watchDebounceMs int >=0
  install obj
    preferBrew bool
    nodeManager enum(npm|pnpm|yarn|bun)
  limits obj
    maxCandidatesPerRoot int >=1
    maxSkillsLoadedPerSource int >=1
    maxSkillsInPrompt int >=0
    maxSkillsPromptChars int >=0
    maxSkillFileBytes int >=0
  entries map
    * obj
      enabled bool
      apiKey str secret
      env map
        * str
      config open
plugins obj
  enabled bool
  allow str[]
  deny str[]
  load obj
    paths str[]
  slots obj
    memory str
  entries map
    * obj
      enabled bool
      config open
    device-pair obj
      enabled bool
      config obj
        publicUrl str
    llm-task obj
      enabled bool
      config obj
        defaultProvider str
        defaultModel str
        defaultAuthProfileId str
        allowedModels str[]
        maxTokens num
        timeoutMs num
    memory-lancedb obj
      enabled bool
      config obj
        embedding obj !
          apiKey str ! secret
          model enum(text-embedding-3-small|text-embedding-3-large)
        dbPath str
        autoCapture bool
        autoRecall bool
        captureMaxChars num >=100 <=10000
    thread-ownership obj
      enabled bool
      config obj
        forwarderUrl str
        abTestChannels str[]
    voice-call obj
      enabled bool
      config obj
        enabled bool
        provider enum(telnyx|twilio|plivo|mock)
        telnyx obj
          apiKey str secret
          connectionId str
          publicKey str secret
        twilio obj
          accountSid str
          authToken str secret
        plivo obj
          authId str
          authToken str
        fromNumber str ~^\+[1-9]\d{1,14}$
        toNumber str ~^\+[1-9]\d{1,14}$
        inboundPolicy enum(disabled|allowlist|pairing|open)
        allowFrom str[]
        inboundGreeting str
        outbound obj
          defaultMode enum(notify|conversation)
          notifyHangupDelaySec int >=0
        maxDurationSeconds int >=1
        silenceTimeoutMs int >=1
        transcriptTimeoutMs int >=1
        ringTimeoutMs int >=1
        maxConcurrentCalls int >=1
        serve obj
          port int >=1
          bind str
          path str
        tailscale obj
          mode enum(off|serve|funnel)
          path str
        tunnel obj
          provider enum(none|ngrok|tailscale-serve|tailscale-funnel)
          ngrokAuthToken str secret
          ngrokDomain str
          allowNgrokFreeTierLoopbackBypass bool
        streaming obj
          enabled bool
          sttProvider enum(openai-realtime)
          openaiApiKey str secret
          sttModel str
          silenceDurationMs int >=1
          vadThreshold num >=0 <=1
          streamPath str
        publicUrl str
        skipSignatureVerification bool
        stt obj
          provider enum(openai)
          model str
        tts obj
          auto enum(off|always|inbound|tagged)
          enabled bool
          mode enum(final|all)
          provider enum(openai|elevenlabs|edge)
          summaryModel str
          modelOverrides obj
            enabled bool
            allowText bool
            allowProvider bool
            allowVoice bool
            allowModelId bool
            allowVoiceSettings bool
            allowNormalization bool
            allowSeed bool
          elevenlabs obj
            apiKey str secret
            baseUrl str
            voiceId str
            modelId str
            seed int >=0 <=4294967295
            applyTextNormalization enum(auto|on|off)
            languageCode str
            voiceSettings obj
              stability num >=0 <=1
              similarityBoost num >=0 <=1
              style num >=0 <=1
              useSpeakerBoost bool
              speed num >=0.5 <=2
          openai obj
            apiKey str secret
            model str
            voice str
          edge obj
            enabled bool
            voice str
            lang str
            outputFormat str
            pitch str
            rate str
            volume str
            saveSubtitles bool
            proxy str
            timeoutMs int >=1000 <=120000
          prefsPath str
          maxTextLength int >=1
          timeoutMs int >=1000 <=120000
        store str
        responseModel str
        responseSystemPrompt str
        responseTimeoutMs int >=1
  installs map
    * obj
      source enum(npm|archive|path) !
      spec str
      sourcePath str
      installPath str
      version str
      resolvedName str
      resolvedVersion str
      resolvedSpec str
      integrity str
      shasum str
      resolvedAt str
      installedAt str
`;
