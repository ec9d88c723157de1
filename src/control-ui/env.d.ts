/** Release of this page, from package.json at build time. */
declare const __APP_VERSION__: string;
