import {
  type FilterValues,
  type ListFilter,
  type ListFilters,
  readFilters,
} from "../../../resources/queries/orders.ts";
import { shellWord } from "../../../resources/views/text.ts";
import { UsageError } from "../../../core/settings/errors.ts";
import {
  type Markup,
  markup,
  NOTHING,
  section,
  sentence,
  type SortedHead,
} from "../markup/markup.ts";

/** Reads the value of a filter, of `after` or of `sort` in the address. */
export type Address = (name: string) => string | undefined;

/** A list that is chosen by the filters of its address. */
export interface FilteredList {
  /** Where it is. */
  readonly path: "/orders" | "/users" | "/deliveries";
  /** The command that lists the same. */
  readonly command: string;
  /** The filters. */
  readonly filters: ListFilters;
  /** Those that are always shown; the others are folded until one is used. */
  readonly first: readonly string[];
  /** What the words of filters mean, where that is said somewhere. */
  readonly meanings?: Readonly<
    Record<string, Readonly<Record<string, string>> | undefined>
  >;
  /** Its orders by their words, the usual one first. @default {one order} */
  readonly sorts?: Readonly<Record<string, SortChoice>>;
}

/** An order in which a list can be. */
export interface SortChoice {
  /** Its name, such as `newest first`. */
  readonly title: string;
  /** What a link to the next page says. */
  readonly further: string;
}

/** Orders by when rows were created. */
export const BY_TIME: {
  readonly newest: SortChoice;
  readonly oldest: SortChoice;
} = {
  newest: { title: "newest first", further: "Earlier ones" },
  oldest: { title: "oldest first", further: "Later ones" },
};

/** The texts of filters that an address has; `sort` is one of them. */
export type Chosen = Readonly<Record<string, string>>;

/** What an address chooses; what is left empty is left out. */
export function chosenBy(list: FilteredList, address: Address): Chosen {
  const names = Object.keys(list.filters).concat(list.sorts ? ["sort"] : []);
  return Object.fromEntries(
    names.map((name) => [name, address(name)?.trim() ?? ""])
      .filter(([, text]) => text !== ""),
  );
}

/** The address of a list with such a choice. */
export function listPath(
  path: string,
  chosen: Chosen,
  more: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams({ ...chosen, ...more }).toString();
  return query === "" ? path : `${path}?${query}`;
}

/** The order of a list: the usual one unless another is chosen. */
export function sortOf<Word extends string>(
  sorts: Readonly<Record<Word, SortChoice>>,
  { sort }: Chosen,
): Word {
  const words = Object.keys(sorts) as Word[];
  return words.find((word) => word === sort) ?? words[0] as Word;
}

/** The heading of a list in an order. */
export function headingOf({ title }: SortChoice): string {
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/** A link that sorts a list by a column, or reverses it. */
export function sortLink(
  list: FilteredList,
  chosen: Chosen,
  [first, second]: readonly [descending: string, ascending: string],
): SortedHead {
  const sort = sortOf(list.sorts ?? {}, chosen);
  return {
    href: listPath(list.path, {
      ...chosen,
      sort: sort === first ? second : first,
    }),
    sorted: sort === first
      ? "descending"
      : sort === second
      ? "ascending"
      : null,
  };
}

/** The form that chooses, and the same as a command. */
export function listForm(list: FilteredList, chosen: Chosen): Markup {
  const names = Object.keys(list.filters);
  const folded = names.filter((name) => !list.first.includes(name));
  const fields = (of: readonly string[]) =>
    of.map((name) => field(list, name, chosen[name] ?? ""));
  const isFoldedUsed = folded.some((name) => chosen[name] !== undefined);
  return markup`<form class="filter" action="${list.path}" method="get">
<div class="fields">${fields(list.first)}${
    list.sorts && sortField(list.sorts, chosen)
  }</div>
${
    folded.length > 0 &&
    markup`<details id="more-filters" ${
      isFoldedUsed && "open"
    }><summary>More filters</summary>
<div class="fields">${fields(folded)}</div></details>`
  }
<p class="row"><button class="primary">Show</button>${
    Object.keys(chosen).length > 0 &&
    markup` <a href="${list.path}">Without filters</a>`
  }</p></form>`;
}

/** The command that prints the same, to copy. */
export function sameCommand(command: string, chosen: Chosen): Markup {
  const flags = Object.entries(chosen).map(([name, text]) =>
    name === "quarantined" ? ` --${name}` : ` --${name} ${shellWord(text)}`
  );
  return markup`<p class="row same"><span class="soft">The same on a command line</span>
<code class="command" id="same">rampkit ${command}${flags.join("")}</code>
<button type="button" class="quiet" data-copy="same" hidden>Copy</button></p>`;
}

/**
 * Makes a list of what its filters choose; where one is wrong, it says so and
 * lists nothing.
 */
export async function ofFilters<Filters extends ListFilters>(
  filters: Filters,
  chosen: Chosen,
  make: (values: FilterValues<Filters>) => Promise<Markup>,
): Promise<Markup> {
  try {
    return await make(readFilters(filters, (name) => chosen[name]));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return section(
      "list",
      "Nothing is listed",
      markup`<p role="alert">${sentence(error.message)}</p>`,
    );
  }
}

/** Links to the pages before and behind. */
export function onward(
  { path, sorts = BY_TIME }: Pick<FilteredList, "path" | "sorts">,
  chosen: Chosen,
  { after, next, searchedTo = null }: {
    readonly after: string | undefined;
    readonly next: string | null;
    /** Where the search ended, if few match. @default {null} */
    readonly searchedTo?: string | null;
  },
): Markup {
  if (after === undefined && next === null) return NOTHING;
  const { further = "" } = sorts[sortOf(sorts, chosen)] ?? {};
  return markup`<p class="row">${
    after !== undefined &&
    markup`<a class="button" href="${listPath(path, chosen)}">First page</a>`
  }${
    next !== null &&
    markup`<a class="button" href="${
      listPath(path, chosen, { after: next })
    }">${searchedTo === null ? further : "Search further"}</a>`
  }${
    searchedTo !== null &&
    markup`<span class="soft">Few match: searched ${searchedTo} so far</span>`
  }</p>`;
}

/** One filter of the form: a choice of its words, or any text. */
function field(
  { filters, meanings }: FilteredList,
  name: string,
  text: string,
): Markup {
  const { description, schema, suggested = [] } = filters[name] as ListFilter<
    unknown
  >;
  const words = Array.isArray(schema.enum)
    ? schema.enum as string[]
    : schema.type === "boolean"
    ? ["true"]
    : null;
  const input = words === null
    ? markup`<input id="${name}" name="${name}" value="${text}" title="${description}" ${
      schema.format === "date" ? "type=date" : ""
    } ${suggested.length > 0 && markup`list="${name}-words"`}>${
      suggested.length > 0 &&
      markup`<datalist id="${name}-words">${
        suggested.map((word) => markup`<option value="${word}">\n`)
      }</datalist>`
    }`
    : markup`<select id="${name}" name="${name}" title="${description}"><option value="">any</option>${
      words.map((word) =>
        markup`<option value="${word}" title="${
          meanings?.[name]?.[word] ?? ""
        }" ${word === text && "selected"}>${
          word !== "true"
            ? word.replaceAll("_", " ")
            : schema.type === "boolean"
            ? "only these"
            : "of any kind"
        }</option>`
      )
    }</select>`;
  return labelled(name, input);
}

function sortField(
  sorts: Readonly<Record<string, SortChoice>>,
  chosen: Chosen,
): Markup {
  const sort = sortOf(sorts, chosen);
  const [usual] = Object.keys(sorts);
  return labelled(
    "sort",
    markup`<select id="sort" name="sort">${
      Object.entries(sorts).map(([word, { title }]) =>
        markup`<option value="${word === usual ? "" : word}" ${
          word === sort && "selected"
        }>${title}</option>\n`
      )
    }</select>`,
  );
}

function labelled(name: string, input: Markup): Markup {
  return markup`<div class="field"><label for="${name}">${
    name.charAt(0).toUpperCase() + name.slice(1)
  }</label>
${input}</div>
`;
}
