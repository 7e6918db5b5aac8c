import { Buffer } from "node:buffer";
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { secureHeaders } from "hono/secure-headers";
import type { Context, MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import type { Operation } from "../../../resources/operations/operation.ts";
import type { Scope } from "../../../core/settings/values.ts";
import { within } from "../../../core/waiting/waiting.ts";
import {
  hostGuard,
  isFromOtherSite,
  isOwnOrigin,
  shownHost,
} from "../../http/http_app.ts";

/** What a reader of the console may do. */
export interface Reader {
  /** How notes are signed, and how the log names the reader. */
  readonly name: string;
  /** Whether the reader may take notes. */
  readonly supports: boolean;
  /** Whether the reader may do everything else too. */
  readonly operates: boolean;
}

/** Whether a reader may have an operation done. */
export function mayDo(
  { supports, operates }: Pick<Reader, "supports" | "operates">,
  { scope }: Operation,
): boolean {
  return scope === "operate" ? operates : supports;
}

/** The tokens that open the console. */
export interface KnownTokens {
  /** Who holds a token; null for an unknown one. */
  callerOf(token: string): {
    /** The token's name: letters, digits and `. _ -`. */
    readonly name: string;
    /** What it allows. */
    readonly scope: Scope;
  } | null;
}

/** Who may open the console. */
export type Access =
  /** Anyone who reaches the address; only for loopback. */
  | { readonly kind: "open"; readonly operates: boolean }
  /** Anyone who holds one of the tokens. */
  | { readonly kind: "tokens"; readonly tokens: KnownTokens };

/** Longest body of a form, in bytes. */
const MOST_BYTES = 64 * 1024;

/** A form has to arrive within this time, ms. */
const LIMIT_MS = 10_000;

/** The fields of a form. */
export type FormFields = Readonly<Record<string, string>>;

/** A form that was not read, and the status that says why. */
export class FormProblem extends Error {
  /** Literal name of the class. */
  override readonly name = "FormProblem";
  /** Status of the answer. */
  readonly status: 400 | 408 | 413;

  /** @param message What was wrong. */
  constructor(status: 400 | 408 | 413, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * Reads the fields of a form. Anybody can send one, even without being signed
 * in, so its length and its duration are bounded.
 *
 * @throws {FormProblem} When it is too long, late or broken.
 */
export async function readForm(
  request: Pick<Request, "body">,
  limitMs: number = LIMIT_MS,
): Promise<FormFields> {
  const bytes = await readBody(request, limitMs);
  const text = new TextDecoder().decode(bytes);
  return Object.fromEntries(new URLSearchParams(text));
}

async function readBody(
  { body }: Pick<Request, "body">,
  limitMs: number,
): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const reader = body.getReader();
  try {
    return await within(
      limitMs,
      undefined,
      () => new FormProblem(408, "The form did not arrive in time"),
      async () => {
        const parts: Uint8Array[] = [];
        for (let bytes = 0;;) {
          const { done, value } = await reader.read();
          if (done) {
            const all = new Blob(parts as BlobPart[]);
            return new Uint8Array(await all.arrayBuffer());
          }
          bytes += value.length;
          if (bytes > MOST_BYTES) {
            throw new FormProblem(413, "The form is too long");
          }
          parts.push(value);
        }
      },
    );
  } catch (error) {
    reader.cancel().catch(() => {}); // It may be broken already.
    if (error instanceof FormProblem) throw error;
    throw new FormProblem(400, "The form was cut off");
  }
}

/** Name of the cookie. */
const SIGN_IN_COOKIE = "rampkit_console";

/** A person signs in again after this long, ms. */
const SIGNED_IN_MS = 12 * 3_600_000;

/**
 * Signs people in. The cookie says who, what is allowed and until when, with a
 * hash by a key that only this process has: it holds nothing of the token,
 * nothing is stored, and a restart ends it.
 */
export class SignIn {
  readonly #access: Access;
  readonly #now: () => number;
  readonly #key: Uint8Array = randomBytes(32);

  /** Nobody is signed in yet. */
  constructor(access: Access, now: () => number) {
    this.#access = access;
    this.#now = now;
  }

  /** Whether signing in is required. */
  get isNeeded(): boolean {
    return this.#access.kind === "tokens";
  }

  /** Makes the cookie for a token; null for an unknown one. */
  cookieFor(token: string): string | null {
    if (this.#access.kind === "open") return null;
    const caller = this.#access.tokens.callerOf(token);
    if (caller === null) return null;
    const ends = this.#now() + SIGNED_IN_MS;
    const said = [ends, caller.scope, caller.name, random()].join("~");
    return `${said}~${this.#signed("reader", said)}`;
  }

  /** Makes the cookie of a visitor of an open console, for the forms alone. */
  visit(): string {
    return random();
  }

  /** Who a cookie stands for; null when nobody. */
  readerOf(cookie: string): Reader | null {
    if (this.#access.kind === "open") {
      const { operates } = this.#access;
      return { name: "local", supports: operates, operates };
    }
    const at = cookie.lastIndexOf("~");
    const said = cookie.slice(0, Math.max(0, at));
    const isOurs = isSame(cookie.slice(at + 1), this.#signed("reader", said));
    const [ends = "", scope, name = ""] = said.split("~");
    return isOurs && Number(ends) > this.#now()
      ? {
        name,
        supports: scope === "support" || scope === "operate",
        operates: scope === "operate",
      }
      : null;
  }

  /** Token that a form sends back, so that no other site can send it. */
  formToken(cookie: string): string {
    return this.#signed("form", cookie);
  }

  /** Whether a form was made for this cookie. */
  isFormToken(cookie: string, token: string): boolean {
    return cookie !== "" && isSame(token, this.formToken(cookie));
  }

  #signed(purpose: "reader" | "form", text: string): string {
    return createHmac("sha256", this.#key).update(`${purpose} ${text}`)
      .digest("base64url");
  }
}

function random(): string {
  return randomBytes(16).toString("base64url");
}

/** Compares in a time that does not reveal how much agrees. */
function isSame(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** What a request carries once it may read. */
export interface ConsoleEnv {
  Variables: {
    /** Who reads. */
    reader: Reader;
    /** The cookie that the forms are bound to. */
    cookie: string;
  };
}

/** Headers of every answer: nothing runs or loads but the console's own files. */
export const safeHeaders: MiddlewareHandler = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", "data:"],
    connectSrc: ["'self'"],
    formAction: ["'self'"],
    baseUri: ["'none'"],
    frameAncestors: ["'none'"],
  },
  xFrameOptions: "DENY",
  // With "no-referrer" a browser does not say either where a form comes from.
  referrerPolicy: "same-origin",
  // The proxy that ends TLS decides this, for the whole host.
  strictTransportSecurity: false,
});

/** Refuses what names another host, and what pages of others send. */
export function ownHostAndOrigin(
  names: readonly string[],
): MiddlewareHandler {
  const isKnownHost = hostGuard(names);
  return async (c, next) => {
    if (!isKnownHost(c.req.raw)) {
      return refusal(
        c,
        `The request names another host than this console: ${
          shownHost(c.req.raw)
        }; to allow it, start the console with --allow-host NAME`,
      );
    }
    if (
      isFromOtherSite(c.req.raw) ||
      (!isReading(c) && !isOwnOrigin(c.req.raw))
    ) {
      return refusal(
        c,
        "The request came from another page, not from the console: its Host " +
          `is ${
            shownHost(c.req.raw)
          }; behind a proxy, let it pass Host on as ` +
          "the browser sent it",
      );
    }
    return await next();
  };
}

/** Lets through who is signed in. */
export function signedIn(
  signIn: SignIn,
  otherwise: (c: Context) => Response | Promise<Response>,
): MiddlewareHandler<ConsoleEnv> {
  return async (c, next) => {
    let cookie = getCookie(c, SIGN_IN_COOKIE) ?? "";
    const reader = signIn.readerOf(cookie);
    if (reader === null) return otherwise(c);
    if (cookie === "") {
      // The forms of an open console are bound to one browser all the same.
      cookie = signIn.visit();
      keepCookie(c, cookie);
    }
    c.set("reader", reader);
    c.set("cookie", cookie);
    return await next();
  };
}

/** Gives the browser a cookie that no script and no other site can use. */
export function keepCookie(
  c: Context,
  cookie: string,
  maxAge: number = SIGNED_IN_MS / 1000,
): void {
  setCookie(c, SIGN_IN_COOKIE, cookie, {
    httpOnly: true,
    sameSite: "Strict",
    path: "/",
    maxAge,
    secure: new URL(c.req.url).protocol === "https:" ||
      c.req.header("x-forwarded-proto") === "https",
  });
}

/** Whether a request only reads. */
function isReading({ req }: Context): boolean {
  return req.method === "GET" || req.method === "HEAD";
}

/**
 * A path of the console itself, whatever a form or address says. Browsers leave
 * tabs and line ends out of an address, so `/<tab>/host` would be another host.
 */
export function ownPath(path: string): string {
  return /^\/(?![/\\])\P{Cc}*$/u.test(path) ? path : "/";
}

/** An answer of plain text to what must not be. */
export function refusal(c: Context, text: string): Response {
  return c.text(`${text}\n`, 403);
}
