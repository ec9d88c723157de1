import { html, svg } from "lit";
import type { TemplateResult } from "lit";

const PATHS = {
  chat: svg`<path d="M20 12a7.5 7.5 0 0 1-7.5 7.5H5l1.6-3A7.5 7.5 0 1 1 20 12Z"/>`,
  overview: svg`<rect x="4" y="4" width="7" height="9" rx="2"/><rect x="13" y="4" width="7" height="5" rx="2"/><rect x="13" y="11" width="7" height="9" rx="2"/><rect x="4" y="15" width="7" height="5" rx="2"/>`,
  menu: svg`<path d="M4 7h16M4 12h16M4 17h16"/>`,
  sun: svg`<circle cx="12" cy="12" r="4"/><path d="M12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4"/>`,
  moon: svg`<path d="M20 14.5A8 8 0 0 1 9.5 4 8 8 0 1 0 20 14.5Z"/>`,
  system: svg`<rect x="3.5" y="5" width="17" height="11" rx="2"/><path d="M9 20h6M12 16v4"/>`,
  send: svg`<path d="M12 19V5M6 11l6-6 6 6"/>`,
  stop: svg`<rect x="7" y="7" width="10" height="10" rx="2" fill="currentColor"/>`,
  image: svg`<rect x="4" y="4.5" width="16" height="15" rx="3"/><circle cx="9" cy="10" r="1.6"/><path d="m5 17 4.5-4 3 2.5L16 12l4 4"/>`,
  plus: svg`<path d="M12 5v14M5 12h14"/>`,
  close: svg`<path d="m6 6 12 12M18 6 6 18"/>`,
  copy: svg`<rect x="8" y="8" width="11" height="12" rx="2.5"/><path d="M16 8V6.5A2.5 2.5 0 0 0 13.500 4h-6A2.500 2.500 0 0 0 5 6.500v8A2.500 2.500 0 0 0 7.500 17H8"/>`,
  check: svg`<path d="m5 12.500 4.500 4.500L19 7.500"/>`,
  refresh: svg`<path d="M20 12a8 8 0 1 1-2.300-5.600M20 4v4h-4"/>`,
  bulb: svg`<path d="M9 17.500h6M10 20.500h4M8.500 14.500A6 6 0 1 1 15.500 14.500c-.5.4-.8 1-.8 1.600H9.300c0-.6-.3-1.200-.8-1.600Z"/>`,
  down: svg`<path d="M12 5v14M6 13l6 6 6-6"/>`,
  chevron: svg`<path d="m9 6 6 6-6 6"/>`,
  tool: svg`<path d="M14.500 6.500a4 4 0 0 1 5-1.200l-2.700 2.700.2 2 2 .2 2.700-2.700a4 4 0 0 1-5.400 4.800L9 19.500a2.100 2.100 0 0 1-3-3l7.300-7.300a4 4 0 0 1 1.200-2.700Z" transform="translate(-1.500 -.5)"/>`,
  terminal: svg`<rect x="3.500" y="5" width="17" height="14" rx="3"/><path d="m7.500 9.500 2.500 2.500-2.500 2.500M13 15h3.500"/>`,
  file: svg`<path d="M7 3.500h6.500L18 8v10.500a2 2 0 0 1-2 2H7a2 2 0 0 1-2-2v-13a2 2 0 0 1 2-2Z"/><path d="M13 3.500V8.500h5"/>`,
  globe: svg`<circle cx="12" cy="12" r="8"/><path d="M4 12h16M12 4c2.500 2.300 3.500 5 3.500 8s-1 5.700-3.500 8c-2.500-2.300-3.500-5-3.500-8s1-5.700 3.500-8Z"/>`,
  alert: svg`<path d="M12 8.500v4.500M12 16.500h.01M10.400 4.800 3.300 17a1.900 1.900 0 0 0 1.600 2.800h14.200a1.900 1.900 0 0 0 1.600-2.800L13.600 4.800a1.900 1.900 0 0 0-3.200 0Z"/>`,
  key: svg`<circle cx="8.500" cy="14.500" r="4"/><path d="M11.500 11.500 19 4M16 7l2.500 2.500"/>`,
  device: svg`<rect x="4" y="5" width="16" height="11" rx="2"/><path d="M2.500 19h19"/>`,
  shield: svg`<path d="M12 3.500 19 6v5.500c0 4.300-2.900 7.300-7 9-4.100-1.700-7-4.700-7-9V6Z"/>`,
  edit: svg`<path d="M5 19h3.500L19 8.500 15.500 5 5 15.500ZM13 7.500l3.500 3.500"/>`,
  trash: svg`<path d="M5 7h14M10 7V4.500h4V7M7 7l.8 12a1.500 1.500 0 0 0 1.500 1.500h5.400a1.500 1.500 0 0 0 1.500-1.500L17 7"/>`,
  clock: svg`<circle cx="12" cy="12" r="8"/><path d="M12 7.500V12l3 2"/>`,
} as const;

export type IconName = keyof typeof PATHS;

/** Decoration only; the control around it carries the name. */
export const icon = (name: IconName): TemplateResult =>
  html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">${PATHS[name]}</svg>`;

export const logo = (): TemplateResult =>
  html`<svg class="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect class="logo-ground" width="32" height="32" rx="9" />
    <g class="logo-marks"><path d="M10.200 7.500c-2.200 4.600-1.900 10 1.300 15" /><path d="M16 6.500c-.9 5.300-.7 11 .6 17" /><path d="M21.800 7.500c1.300 4.800.9 9.800-1.600 15.200" /></g>
  </svg>`;

/** A picture of what a tool does, by its name. */
export function toolIcon(name: string): IconName {
  if (/^(?:exec|process|bash)/.test(name)) return "terminal";
  if (/^(?:read|write|edit|apply_patch|ls|grep|find|memory)/.test(name)) return "file";
  if (/^(?:web|browser|fetch)/.test(name)) return "globe";
  if (/^(?:cron|session_status)/.test(name)) return "clock";
  if (/^(?:message|sessions_send)/.test(name)) return "chat";
  return /^image/.test(name) ? "image" : "tool";
}
