import { isRecord } from "../../core/guards.ts";

/**
 * Whether the request comes from an allowed page. Browsers send the origin of
 * every POST. A request without one is not from a browser, so it is refused.
 */
export function isSameOrigin(
  request: Request,
  allowed: readonly string[] | undefined,
): boolean {
  const origin = request.headers.get("origin");
  if (origin === null) return false;
  return (allowed ?? [new URL(request.url).origin]).includes(origin);
}

/** The body's text, or null when it is longer than allowed. */
export async function readText(
  request: Request,
  maxBytes: number,
): Promise<string | null> {
  if (request.body === null) return "";
  const reader = request.body.getReader();
  const decoder = new TextDecoder();
  let size = 0;
  let text = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > maxBytes) {
      await reader.cancel();
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** What the page says, or null when it makes no sense. */
export function parseBody(
  text: string,
): Readonly<Record<string, unknown>> | null {
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) ? body : null;
  } catch {
    return null;
  }
}

/** A no, in one word. */
export function refusal(
  status: number,
  error: string,
  headers: Record<string, string> = {},
): Response {
  return json(status, { error }, headers);
}

/** An answer that must not be cached. */
export function json(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Response {
  return Response.json(body, {
    status,
    headers: {
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      ...headers,
    },
  });
}
