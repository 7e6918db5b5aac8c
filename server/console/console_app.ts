import { type Context, Hono } from "hono";
import { streamSSE } from "hono/streaming";
import {
  RELEASE_BY_HAND,
  TAKE_NOTE,
} from "../../resources/operations/order_operations.ts";
import { CLOSE_MONTH } from "../../resources/operations/month_operations.ts";
import {
  csvForm,
  type Operation,
  paramsOf,
  readValues,
} from "../../resources/operations/operation.ts";
import {
  LOOK_AT_CHAIN,
  READ_ORDER,
} from "../../resources/operations/service_operations.ts";
import {
  DROP,
  RESUME,
  RETRY,
  STOP,
} from "../../resources/operations/subscription_operations.ts";
import { CommandError, UsageError } from "../../core/settings/errors.ts";
import type { Operations } from "../api/operations.ts";
import {
  type Access,
  type ConsoleEnv,
  type FormFields,
  FormProblem,
  keepCookie,
  mayDo,
  ownHostAndOrigin,
  ownPath,
  type Reader,
  readForm,
  refusal,
  safeHeaders,
  signedIn,
  SignIn,
} from "./access/access.ts";
import { countWaiting } from "../../resources/health/conditions.ts";
import type { LookAtHealth } from "../../resources/health/finding.ts";
import type { Log } from "../monitoring/logger.ts";
import {
  CachedValue,
  ClosedBooks,
  OpenBooks,
  OrderTotals,
  type PageContext,
  RefundsOfMonths,
} from "./context/page_context.ts";
import { idOfPath } from "../../core/text.ts";
import { isMonth } from "../../resources/queries/months.ts";
import { closedBooks as closedBooksOf } from "../../resources/months/month_books.ts";
import {
  isMonthFile,
  monthFileText,
} from "../../resources/months/month_files.ts";
import { messageOf } from "../../core/guards.ts";
import { servedFile } from "./files/served_files.ts";
import { lookAtStored } from "../../resources/health/stored_health.ts";
import { healthBar, HealthWatch, LivePages } from "./health/health_bar.ts";
import { type Markup, markup, sentence } from "./markup/markup.ts";
import { attentionPage } from "./pages/attention_page.ts";
import { bodyPage, deliveryPage } from "./pages/delivery_page.ts";
import {
  againPage,
  healthPage,
  homePage,
  messagePage,
  signInPage,
} from "./pages/home_page.ts";
import { searchPage } from "./pages/search_page.ts";
import { bare, layout, type PageParts } from "./pages/layout.ts";
import { monthPage, monthsPage } from "./pages/month_page.ts";
import { orderPage } from "./pages/order_page.ts";
import { ordersCsv, ordersPage, totalsPage } from "./pages/orders_page.ts";
import { userPage, usersPage } from "./pages/user_page.ts";
import { deliveriesPage } from "./pages/deliveries_page.ts";
import { readFolded } from "../../ledger/for_server.ts";
import { targetPage, targetsPage } from "./pages/targets_page.ts";
import { orderPath } from "../../resources/views/text.ts";
import { openHttpServer } from "../../core/serving/open_http_server.ts";
import { listening, urlOf } from "../http/listening.ts";

/** What the forms of pages have done. */
const FORM_OPERATIONS: readonly Operation[] = [
  ...[RELEASE_BY_HAND, TAKE_NOTE, READ_ORDER, LOOK_AT_CHAIN],
  ...[RETRY, DROP, STOP, RESUME, CLOSE_MONTH],
];

/** Result of a form of a page: the next page, or what was wrong. */
type FormResult =
  | { readonly back: string }
  | { readonly wrong: string };

/** Does what the form of a page asks for. */
async function takeForm(
  operations: Pick<Operations, "operate">,
  operation: Operation,
  fields: FormFields,
  { name }: Reader,
): Promise<FormResult> {
  const { final } = operation;
  if (final !== undefined && fields.sure !== "yes") return { wrong: final };
  const params = paramsOf(operation);
  try {
    const values = readValues(operation, (field) => {
      if (params[field]?.isCaller) return name;
      const text = fields[field]?.replaceAll("\r\n", "\n").trim();
      return text === "" && !params[field]?.takesEmpty ? undefined : text;
    });
    const result = await operations.operate({ name }, operation, values);
    const wrong = operation.idle?.(result) ?? null;
    return wrong === null ? { back: ownPath(fields.back ?? "") } : { wrong };
  } catch (error) {
    if (error instanceof UsageError || error instanceof CommandError) {
      return { wrong: error.message };
    }
    throw error;
  }
}

/** What the console is made of. */
export interface ConsoleParts extends
  Pick<
    PageContext,
    "ledger" | "dashboardUrl" | "explorers"
  > {
  /** Checks the health of everything. @default {from what the ledger has} */
  readonly look?: LookAtHealth;
  /** Clock, ms since the epoch. */
  readonly now: () => number;
  /** Who may open it. */
  readonly access: Access;
  /** Names under which people open it, besides addresses and localhost. */
  readonly hostNames: readonly string[];
  /** Brings states up to date, or to a bounded age. */
  readonly catchUp: () => Promise<void>;
  /** Called with each error. */
  readonly log: Log;
  /** Does what forms ask for. */
  readonly operations: PageContext["operations"] & Pick<Operations, "operate">;
}

/** Counts of what waits are refreshed after this long, ms. */
const WAITING_OLD_MS = 5000;

/** A console that answers requests until it is stopped. */
interface ConsoleApp {
  /** Answers a request. */
  readonly fetch: (request: Request) => Response | Promise<Response>;
  /** Prepares what the first page would otherwise wait for. */
  warm(): void;
  /** Ends what pages follow, and waits for what still reads the ledger. */
  stop(): Promise<void>;
}

/** A request that may read. */
type Reading = Context<ConsoleEnv>;

/** Makes a page; null where there is nothing to show. */
type MakePage = (
  context: PageContext,
) => PageParts | string | null | Promise<PageParts | string | null>;

/** The pages of the console, and what guards them. */
export function consoleApp(parts: ConsoleParts): ConsoleApp {
  const { ledger, now, access } = parts;
  const health = new HealthWatch(
    ledger,
    now,
    parts.look ?? (() => lookAtStored(ledger, { nowMs: now() })),
  );
  const live = new LivePages(
    health,
    async () => (await readFolded(ledger.driver)).position,
  );
  const { delivery } = health;
  const openBooks = new OpenBooks(ledger, now);
  const refunds = new RefundsOfMonths(ledger, now);
  const orderTotals = new OrderTotals(ledger, now);
  const closedBooks = new ClosedBooks(ledger);
  const waiting = new CachedValue(() => countWaiting(ledger, now()), {
    now,
    oldMs: WAITING_OLD_MS,
  });
  let warmed: Promise<unknown> = Promise.resolve();
  const signIn = new SignIn(access, now);
  const app = new Hono<ConsoleEnv>();

  app.use(safeHeaders);
  app.use(async (c, next) => {
    await next();
    // What a ledger holds stays in no cache.
    if (!c.res.headers.has("cache-control")) {
      c.res.headers.set("cache-control", "no-store");
    }
  });
  app.use(ownHostAndOrigin(parts.hostNames));
  app.get("/files/:name", async (c) => {
    const file = servedFile(c.req.param("name"));
    if (file === null) return c.text("No such file\n", 404);
    return c.body(await file.text(), 200, {
      "content-type": file.type,
      "cache-control": "no-cache",
    });
  });

  app.get("/sign-in", (c) => send(c, signInPage({ to: "/", failed: false })));
  app.post("/sign-in", async (c) => {
    const { token, to } = await readForm(c.req.raw);
    const wanted = ownPath(to ?? "");
    const cookie = signIn.cookieFor((token ?? "").trim());
    if (cookie === null) {
      parts.log("warn", "console_refused");
      return send(c, signInPage({ to: wanted, failed: true }), 403);
    }
    keepCookie(c, cookie);
    return c.redirect(wanted, 303);
  });
  app.use(signedIn(signIn, (c) => {
    if (c.req.method !== "GET") return refusal(c, SIGNED_OUT);
    // A strict cookie does not come along with a link from elsewhere, such as
    // a mail; with the same address loaded by this page it does.
    if (c.req.header("sec-fetch-site") === "cross-site") {
      return send(c, againPage());
    }
    const { pathname, search } = new URL(c.req.url);
    return send(c, signInPage({ to: pathname + search, failed: false }), 401);
  }));

  const show = async (c: Reading, make: MakePage, status?: 400 | 404) => {
    await parts.catchUp();
    const formToken = signIn.formToken(c.get("cookie"));
    const nowMs = now();
    // Read first, so that nothing is missed that comes while the page is made.
    const { position } = await readFolded(ledger.driver);
    const { supports, operates, name } = c.get("reader");
    const made = await make({
      ...parts,
      nowMs,
      supports,
      operates,
      formToken,
      openBooks,
      closedBooks,
      refunds,
      orderTotals,
      waiting,
      delivery,
    });
    if (typeof made === "string") return c.redirect(made, 303);
    const frame = {
      environment: ledger.environment,
      health: await health.parts(),
      nowMs,
      position,
      reader: signIn.isNeeded ? name : null,
      formToken,
    };
    if (made?.refreshSeconds !== undefined) {
      c.header("refresh", `${made.refreshSeconds}`);
    }
    return send(
      c,
      layout(frame, made ?? NO_PAGE),
      made === null ? 404 : status,
    );
  };
  /** The fields of a form if one of our pages made it; else null. */
  const ownForm = async (c: Reading) => {
    const fields = await readForm(c.req.raw);
    const isOurs = signIn.isFormToken(c.get("cookie"), fields.form ?? "");
    return isOurs ? fields : null;
  };

  app.get("/", (c) => show(c, homePage));
  app.get(
    "/search",
    (c) => show(c, (context) => searchPage(context, c.req.query("q") ?? "")),
  );
  app.get(
    "/orders",
    (c) =>
      show(c, (context) => ordersPage(context, (name) => c.req.query(name))),
  );
  app.get(
    "/orders/totals",
    (c) =>
      show(c, (context) => totalsPage(context, (name) => c.req.query(name))),
  );
  app.get("/orders.csv", async (c) => {
    await parts.catchUp();
    const address = (name: string) => c.req.query(name);
    return c.body(ordersCsv({ ledger, nowMs: now() }, address), 200, {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": 'attachment; filename="orders.csv"',
    });
  });
  app.get(
    "/orders/:id",
    (c) =>
      show(c, (context) => orderPage(context, idOfPath(c.req.param("id")))),
  );
  app.get(
    "/deliveries",
    (c) =>
      show(
        c,
        (context) => deliveriesPage(context, (name) => c.req.query(name)),
      ),
  );
  app.get(
    "/users",
    (c) =>
      show(c, (context) => usersPage(context, (name) => c.req.query(name))),
  );
  app.get(
    "/deliveries/:id",
    (c) => show(c, (context) => bodyPage(context, idOfPath(c.req.param("id")))),
  );
  app.get("/attention", (c) =>
    show(c, (context) =>
      attentionPage(context, {
        kind: c.req.query("kind"),
        after: c.req.query("after"),
      })));
  app.get(
    "/users/:id",
    (c) =>
      show(c, (context) =>
        userPage(context, {
          id: idOfPath(c.req.param("id")),
          after: c.req.query("after"),
        })),
  );
  app.get(
    "/delivery",
    (c) => show(c, deliveryPage),
  );
  app.get("/health", (c) =>
    show(
      c,
      async ({ nowMs }) => healthPage(await health.parts(), nowMs),
    ));
  app.get("/targets", (c) => show(c, targetsPage));
  app.get(
    "/targets/:name",
    (c) =>
      show(c, (context) => targetPage(context, idOfPath(c.req.param("name")))),
  );
  app.get("/months", (c) => show(c, monthsPage));
  app.get(
    "/months/:month",
    (c) => show(c, (context) => monthPage(context, c.req.param("month"))),
  );
  app.get("/months/:month/:file", async (c) => {
    const { month, file } = c.req.param();
    if (!isMonth(month) || !isMonthFile(file)) return show(c, () => null);
    await parts.catchUp();
    const close = await ledger.months.get(month);
    const books = close === null
      ? { close, ...await openBooks.whole(month) }
      : closedBooksOf(close);
    const { origin } = new URL(c.req.url);
    const orderUrl = (id: string) => origin + orderPath(id);
    const text = monthFileText(
      file,
      books,
      { ledger, orderUrl },
      c.req.query("decimalMark") === ","
        ? csvForm({ decimalMark: "," })
        : undefined,
    );
    return c.body((await Array.fromAsync(text)).join(""), 200, {
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename="${month}-${file}"`,
    });
  });
  app.get("/live", (c) => {
    // Of an answer without a body, nothing tells that it is over.
    if (c.req.method === "HEAD") return c.body(null, 200);
    if (!live.hasRoom) return c.text("Too many pages are open\n", 503);
    return streamSSE(c, async (stream) => {
      const left = new AbortController();
      stream.onAbort(() => left.abort());
      for await (const { parts, position } of live.follow(left.signal)) {
        if (parts !== null) {
          const data = JSON.stringify(healthBar(parts, now()).toString());
          await stream.writeSSE({ event: "health", data });
        }
        await stream.writeSSE({ event: "beat", data: String(position) });
      }
    });
  });
  app.post("/sign-out", async (c) => {
    if (await ownForm(c) === null) return refusal(c, OLD_FORM);
    keepCookie(c, "", 0);
    return c.redirect("/sign-in", 303);
  });
  for (const operation of FORM_OPERATIONS) {
    app.post(`/do/${operation.operationId}`, async (c) => {
      const fields = await ownForm(c);
      if (fields === null) return refusal(c, OLD_FORM);
      const reader = c.get("reader");
      if (!mayDo(reader, operation)) {
        return refusal(c, reader.supports ? ONLY_SUPPORTS : ONLY_READS);
      }
      const { operations } = parts;
      const taken = await takeForm(operations, operation, fields, reader);
      if (operation === CLOSE_MONTH) openBooks.forget();
      return "wrong" in taken
        ? await show(c, () => messagePage("Not done", taken.wrong), 400)
        : c.redirect(taken.back, 303);
    });
  }
  app.notFound((c) => show(c as Reading, () => NO_PAGE, 404));
  app.onError((error, c) => {
    if (error instanceof FormProblem) {
      return c.text(`${error.message}\n`, error.status);
    }
    const message = messageOf(error);
    // The address asks for what cannot be.
    const isWrong = error instanceof RangeError || error instanceof UsageError;
    if (!isWrong) parts.log("error", "console_failed", { message });
    return send(c, failed(message), isWrong ? 400 : 500);
  });
  return {
    fetch: (request) => app.fetch(request),
    warm: () => {
      // A page that asks for it shows what fails.
      warmed = Promise.allSettled([waiting.value(), health.parts()])
        .then(() => Promise.allSettled([closedBooks.list()]));
    },
    stop: async () => {
      live.end();
      await health.settled();
      await openBooks.stop();
      await refunds.settled();
      await orderTotals.settled();
      await warmed;
      await waiting.settled();
    },
  };
}

function send(
  c: Context,
  page: Markup,
  status: 200 | 400 | 401 | 403 | 404 | 500 = 200,
): Response {
  return c.body(page.toString(), status, {
    "content-type": "text/html; charset=utf-8",
  });
}

function failed(message: string): Markup {
  return bare(
    "Failed",
    markup`<main class="card sign-in"><h1>This page could not be made</h1>
<p>${sentence(message)}</p><p><a href="/">To the first page</a></p></main>`,
  );
}

const NO_PAGE: PageParts = messagePage(
  "There is no such page",
  "The search box finds orders and users by anything that names them.",
);

const SIGNED_OUT = "Nobody is signed in; load the page again";

const ONLY_READS =
  "Here you can only read; to change something, sign in with an operate " +
  "token, or start the console with --operate";

const ONLY_SUPPORTS =
  "Here you can only read and take notes; to do anything else, sign in with " +
  "an operate token";

const OLD_FORM = "The form is too old; go back, load the page again and repeat";

/** A listening console. */
export interface OpenConsole {
  /** Where people open it. */
  readonly url: string;
  /** Lets requests under way finish, and closes it. */
  shutdown(): Promise<void>;
}

/**
 * Opens the console.
 *
 * @throws {CommandError} When the port is taken, or may not be used.
 */
export async function openConsole(
  parts: ConsoleParts,
  { port, host }: { readonly port: number; readonly host: string },
): Promise<OpenConsole> {
  const app = consoleApp(parts);
  const server = await listening(
    "the console",
    port,
    () => openHttpServer({ port, hostname: host, handler: app.fetch }),
  );
  app.warm();
  return {
    url: urlOf(host, server.port),
    shutdown: async () => {
      const stopped = app.stop();
      await server.shutdown();
      await stopped;
    },
  };
}
