import { messageOf } from "../../../core/guards.ts";
import { isMonth } from "../../../resources/queries/months.ts";
import {
  closedBooks,
  type MonthBooks,
} from "../../../resources/months/month_books.ts";
import {
  decodeStatement,
  StatementError,
} from "../../../resources/statement/read_statement.ts";
import { readStatementMap } from "../../../resources/statement/statement_map.ts";
import {
  matchStatement,
  type StatementMatch,
} from "../../../resources/statement/statement_match.ts";
import {
  matchSentence,
  RESULT_WORDS,
  rowMoney,
  rowName,
  rowRemark,
} from "../../../resources/views/statement_view.ts";
import { counted } from "../../../resources/views/text.ts";
import type { PageContext } from "../context/page_context.ts";
import {
  type Markup,
  markup,
  NOTHING,
  section,
  table,
} from "../markup/markup.ts";
import { outsideText, sentence } from "../markup/outside.ts";
import { hidden } from "../parts/operation_form.ts";
import { orderLink } from "../parts/order_table.ts";
import type { PageParts } from "./layout.ts";

/** Rows that are listed; the command gives all. */
const LISTED = 500;

/** What a person sent: fields, and the bytes of files. */
type Upload = Readonly<Record<string, string | Uint8Array>>;

/** A mapping to begin with. */
const EXAMPLE = JSON.stringify(
  {
    columns: {
      orderId: "Order",
      amount: "Amount",
      currency: "Currency",
      day: "Day",
    },
  },
  null,
  2,
);

/**
 * A statement beside the books of a month. Nothing of it is stored.
 *
 * @param upload What was sent; without it there is the form alone.
 */
export async function statementPage(
  context: PageContext,
  month: string,
  upload?: Upload,
): Promise<PageParts | null> {
  if (!isMonth(month)) return null;
  const map = textOf(upload?.map) || EXAMPLE;
  const result = upload === undefined
    ? NOTHING
    : await matched(context, month, { map, statement: upload.statement });
  return {
    title: `Statement of ${month}`,
    here: "months",
    body:
      markup`<p class="crumb"><a href="/months">Months</a> <a href="/months/${month}">${month}</a></p>
<h1>A statement beside the books of ${month}</h1>
${result}
${section("give", "Match a statement", form(context, month, map))}`,
  };
}

function form(
  { formToken }: PageContext,
  month: string,
  map: string,
): Markup {
  return markup`<form class="note-form" action="/months/${month}/statement" method="post" enctype="multipart/form-data">
${hidden({ form: formToken })}
<p>A CSV file of the service or your bank, with a heading line. Nothing of it is stored.</p>
<label>Statement <input type="file" name="statement" accept=".csv,text/csv,text/plain" required></label>
<label>What its columns mean <textarea name="map" rows="12" spellcheck="false" required>${map}</textarea></label>
<p class="soft">Titles of columns stand behind <code>orderId</code>, <code>externalOrderId</code>, <code>txId</code>, <code>amount</code>, <code>currency</code> and <code>day</code>; COMMANDS.md says what else a mapping can say, under <code>statement match</code>.</p>
<div class="row"><button class="primary">Match it</button></div></form>`;
}

async function matched(
  context: PageContext,
  month: string,
  given: {
    readonly map: string;
    readonly statement: Upload[string] | undefined;
  },
): Promise<Markup> {
  const wrong = (message: string) =>
    section("result", "Not matched", markup`<p>${sentence(message)}</p>`);
  try {
    const map = readStatementMap(JSON.parse(given.map));
    const bytes = given.statement;
    const text = typeof bytes === "object"
      ? decodeStatement(bytes)
      : bytes ?? "";
    const books = await booksOf(context, month);
    const match = await matchStatement(context.ledger, books, { text, map });
    return result(match);
  } catch (error) {
    if (error instanceof SyntaxError) {
      return wrong(`The mapping is not JSON: ${messageOf(error)}`);
    }
    if (error instanceof StatementError || error instanceof TypeError) {
      return wrong(messageOf(error));
    }
    throw error;
  }
}

async function booksOf(
  { ledger, openBooks }: PageContext,
  month: string,
): Promise<MonthBooks> {
  const close = await ledger.months.get(month);
  return close === null
    ? { close, ...await openBooks.whole(month) }
    : closedBooks(close);
}

function result(match: StatementMatch): Markup {
  const left = match.rows.filter(({ result }) => result !== "matched");
  const more = left.length - LISTED;
  return section(
    "result",
    left.length === 0 ? "Everything matches" : "What is left",
    markup`<p>${matchSentence(match)}.</p>
${
      match.sums.length > 0 && table(
        "Sums by currency",
        [
          { title: "Currency" },
          { title: "Statement", number: true },
          { title: "Books", number: true },
          { title: "Difference", number: true },
        ],
        match.sums.map(({ currency, there, here, difference }) => [
          outsideText(currency ?? "not said", 20),
          there ?? "none",
          here ?? "none",
          difference,
        ]),
      )
    }
${
      left.length > 0 && table(
        "Rows that differ, or are on one side alone",
        [
          { title: "Line", number: true },
          { title: "Result" },
          { title: "Statement" },
          { title: "Amount", number: true },
          { title: "Order" },
          { title: "Booked", number: true },
          { title: "Day" },
          { title: "What", sentence: true },
        ],
        left.slice(0, LISTED).map((row) => [
          row.line,
          RESULT_WORDS[row.result],
          outsideText(rowName(row.there), 60),
          outsideText(rowMoney(row.there), 60),
          row.here === null ? NOTHING : orderLink(row.here.orderId),
          outsideText(rowMoney(row.here), 60),
          row.there?.day ?? row.here?.day ?? "",
          sentence(rowRemark(row)),
        ]),
      )
    }${
      more > 0 &&
      markup`<p class="soft">And ${
        counted(more, "row")
      } more: <code>rampkit statement match</code> lists all.</p>`
    }`,
  );
}

function textOf(value: Upload[string] | undefined): string {
  return typeof value === "string" ? value : new TextDecoder().decode(value);
}
