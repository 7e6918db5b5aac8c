import type { AssumptionsSeenBy } from "../../core/assumptions/assumptions.ts";
import type { Answerer, Difference } from "./difference.ts";
import { LIST_DIFFERENCES } from "./list_differences.ts";
import { SESSION_DIFFERENCES } from "./session_differences.ts";

const ANSWERS: Readonly<Record<string, Difference>> = {
  ...LIST_DIFFERENCES,
  ...SESSION_DIFFERENCES,
};

/** How the Test button's request can differ. */
const TESTS: Readonly<
  Record<
    AssumptionsSeenBy<"test_event">,
    (body: string, headers: Headers) => string
  >
> = {
  test_event_form: (body) => body.replace("test_click_id", "a_click_id"),
  test_event_is_json: (body, headers) => {
    headers.set("content-type", "text/plain");
    return body;
  },
  no_signature: (body, headers) => {
    headers.set("x-webhook-signature", "t=1,v1=0");
    return body;
  },
};

/**
 * Names by which a sandbox can be made to differ from what is taken of the
 * service; what the name says is then not so.
 *
 * @throws {RangeError} If a name is not known.
 */
export function checkDifferences(names: readonly string[]): void {
  for (const name of names) {
    if (Object.hasOwn(ANSWERS, name) || Object.hasOwn(TESTS, name)) continue;
    throw new RangeError(
      `Cannot differ in ${name}: it is none of ${
        [...Object.keys(ANSWERS), ...Object.keys(TESTS)].join(", ")
      }`,
    );
  }
}

/** The same service, which differs in what is named. */
export function differingAnswers(
  names: readonly string[],
  answer: Answerer,
): Answerer {
  return names.map((name) => ANSWERS[name]).reduce<Answerer>(
    (inner, difference) =>
      difference === undefined
        ? inner
        : (request) => difference(request, inner),
    answer,
  );
}

/** The same sender, whose Test button differs in what is named. */
export function differingSender(
  names: readonly string[],
  send: typeof fetch,
): typeof fetch {
  const changes = Object.entries(TESTS).filter(([name]) =>
    names.includes(name)
  );
  if (changes.length === 0) return send;
  return (input, init) => {
    const headers = new Headers(init?.headers);
    const { body: sent } = init ?? {};
    const body = changes.reduce(
      (text, [, change]) => change(text, headers),
      typeof sent === "string" ? sent : String(sent),
    );
    return send(input, { ...init, headers, body });
  };
}
