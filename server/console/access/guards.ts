import { secureHeaders } from "hono/secure-headers";
import type { Context, MiddlewareHandler } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import {
  hostGuard,
  isFromOtherSite,
  isOwnOrigin,
  shownHost,
} from "../../http/host_guard.ts";
import type { Reader } from "./access.ts";
import { SIGN_IN_COOKIE, SIGNED_IN_MS, type SignIn } from "./sign_in.ts";

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
