import assert from "node:assert/strict";
import type { SdkListeners } from "./listeners.ts";
import type { WidgetOptions } from "./option_rows.ts";
import { draftOptions } from "./options.ts";
import { SessionError, SessionTicket, WidgetOpener } from "./session_opener.ts";

/** A page without a browser: the SDK's manners, a clock, and tickets. */
function page(o: { ages?: number[]; failsToOpen?: boolean } = {}) {
  const state = { clock: 0, asked: 0, opened: [] as WidgetOptions[] };
  const closed: string[] = [];
  class Widget {
    options: WidgetOptions;
    constructor(options: WidgetOptions) {
      this.options = options;
    }
    open() {
      if (o.failsToOpen) throw new Error("no body");
      state.opened.push(this.options);
    }
    close() {
      this.options.listeners?.close?.();
    }
    addEventListeners(listeners: SdkListeners) {
      this.options.listeners = { ...this.options.listeners, ...listeners };
    }
  }
  const opener = new WidgetOpener({
    Widget,
    draft: draftOptions({
      partner_id: "p",
      click_id: "draft",
      listeners: { close: () => closed.push("closed") },
    }, { environment: "sandbox" }),
    askSession: () => {
      const age = o.ages?.[state.asked] ?? 0;
      state.asked++;
      const sessionId = `s-${state.asked}`;
      const clickId = `c-${state.asked}`;
      const askedAt = state.clock - age;
      return Promise.resolve(
        new SessionTicket({ sessionId, clickId, askedAt }),
      );
    },
    now: () => state.clock,
  });
  return { opener, state, closed };
}

Deno.test("WidgetOpener.open() asks at the click, and opens at once", async () => {
  const { opener, state } = page();
  assert.equal(state.asked, 0);
  assert.equal(opener.state, "closed");
  const opening = opener.open();
  assert.equal(opener.state, "asking");
  await opening;
  assert.equal(opener.state, "open");
  assert.deepEqual(
    state.opened.map(({ session_id, click_id }) => [session_id, click_id]),
    [["s-1", "c-1"]],
  );
});

Deno.test("WidgetOpener.open() gives a double click the same widget", async () => {
  const { opener, state } = page();
  const [first, second] = await Promise.all([opener.open(), opener.open()]);
  assert.equal(first, second);
  assert.equal(await opener.open(), first);
  assert.equal(state.asked, 1);
  assert.equal(state.opened.length, 1);
});

Deno.test("WidgetOpener.open() asks anew after the widget was closed", async () => {
  const { opener, state, closed } = page();
  const first = await opener.open();
  first.close();
  assert.equal(opener.state, "closed");
  assert.deepEqual(closed, ["closed"]);
  const second = await opener.open();
  assert.notEqual(first, second);
  const sessions = state.opened.map(({ session_id }) => session_id);
  assert.deepEqual(sessions, ["s-1", "s-2"]);
});

Deno.test("WidgetOpener.open() renews a session that grew stale on the way", async () => {
  const { opener, state } = page({ ages: [28_000, 27_999] });
  await opener.open();
  assert.equal(state.asked, 2);
  assert.equal(state.opened[0]?.session_id, "s-2");
});

Deno.test("WidgetOpener.open() gives up after two stale sessions, and can be tried again", async () => {
  const { opener, state } = page({ ages: [30_000, 30_000] });
  await assert.rejects(opener.open(), { name: "SessionError", code: "stale" });
  assert.equal(opener.state, "closed");
  assert.equal(state.opened.length, 0);
  await opener.open();
  assert.equal(state.asked, 3);
});

Deno.test("WidgetOpener.open() refuses a session that was used", async () => {
  const draft = draftOptions({ partner_id: "p" }, { environment: "sandbox" });
  const ticket = new SessionTicket({ sessionId: "s", askedAt: 0 });
  ticket.take(0);
  const opener = new WidgetOpener({
    Widget: class {
      open() {}
      close() {}
    },
    draft,
    askSession: () => Promise.resolve(ticket),
    now: () => 1,
  });
  await assert.rejects(opener.open(), { code: "used" });
});

Deno.test("WidgetOpener.open() passes a refusal on, and can be tried again", async () => {
  const { opener } = page();
  const refusing = new WidgetOpener({
    Widget: class {
      open() {}
      close() {}
    },
    draft: draftOptions({ partner_id: "p" }, { environment: "sandbox" }),
    askSession: () => Promise.reject(new SessionError("refused", "No")),
  });
  for (let i = 0; i < 2; i++) {
    await assert.rejects(refusing.open(), { code: "refused" });
    assert.equal(refusing.state, "closed");
  }
  assert.equal(opener.state, "closed");
});

Deno.test("WidgetOpener.open() is closed again when the SDK throws", async () => {
  const { opener } = page({ failsToOpen: true });
  await assert.rejects(opener.open(), { message: "no body" });
  assert.equal(opener.state, "closed");
});

Deno.test("WidgetOpener.close() closes once, or stops the asking", async () => {
  const { opener, closed, state } = page();
  opener.close();
  const stopped = opener.open();
  opener.close();
  await assert.rejects(stopped, { name: "AbortError" });
  assert.equal(state.opened.length, 0);
  await opener.open();
  opener.close();
  opener.close();
  assert.deepEqual(closed, ["closed"]);
});

Deno.test("WidgetOpener notices that the widget closes even when a listener fails", async () => {
  const { opener, state } = page();
  const widget = await opener.open();
  widget.addEventListeners({ close: () => {} });
  widget.close();
  assert.equal(opener.state, "closed");
  await opener.open();
  assert.equal(state.asked, 2);
});

Deno.test("WidgetOpener does not let one widget's options leak into the next", async () => {
  const { opener, state } = page();
  const first = await opener.open();
  first.addEventListeners({ loaded: () => {} });
  first.close();
  await opener.open();
  assert.equal(state.opened[1]?.listeners?.loaded, undefined);
});
