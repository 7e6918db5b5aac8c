/** An app of Next, file by file: it starts with the server and sells. */
export const NEXT_APP: Readonly<Record<string, string>> = {
  "lib/onramp.js": `
import { startOnramp } from "@rampkit/onramp/start";
export function onramp() {
  return globalThis.onramp ??= startOnramp({
    databaseUrl: "file:next.db",
    poll: false,
    webhookSecrets: "the-secret-in-the-webhook-address",
    onProblem: ({ code }) => console.log("told " + code),
    stopOn: ["SIGTERM"],
  });
}
`,
  "instrumentation.js": `
export async function register() {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { onramp } = await import("./lib/onramp.js");
  await onramp();
  console.log("started");
}
`,
  "app/webhooks/[secret]/route.js": `
import { onramp } from "../../../lib/onramp.js";
export async function POST(request) {
  return await (await onramp()).webhooks(request);
}
`,
  "app/layout.js": `
export default function Layout({ children }) {
  return <html lang="en"><body>{children}</body></html>;
}
`,
};

/** What leaves the package out of the bundle. */
export const NEXT_CONFIG =
  'export default { serverExternalPackages: ["@rampkit/onramp"] };\n';
