import {
  USER_FILTERS,
  usersPage as listedUsers,
} from "../../../resources/queries/users.ts";
import type { UserJson } from "../../../resources/views/user_view.ts";
import type { PageContext } from "../context/page_context.ts";
import { type Markup, markup, section, table } from "../markup/markup.ts";
import { brief, outside } from "../markup/outside.ts";
import { when } from "../markup/times.ts";
import {
  type Address,
  BY_TIME,
  chosenBy,
  type FilteredList,
  headingOf,
  listForm,
  ofFilters,
  onward,
  sameCommand,
  sortOf,
} from "../parts/list_form.ts";
import { userLink } from "../parts/order_table.ts";
import type { PageParts } from "./layout.ts";

/** Users of one page. */
const USERS = 50;

const LIST: FilteredList = {
  path: "/users",
  command: "users list",
  filters: USER_FILTERS,
  first: Object.keys(USER_FILTERS),
  sorts: BY_TIME,
};

/** The users that the filters of the address choose. */
export async function usersPage(
  { ledger, nowMs }: PageContext,
  address: Address,
): Promise<PageParts> {
  const chosen = chosenBy(LIST, address);
  const after = address("after");
  return {
    title: "Users",
    here: "users",
    follows: "list",
    body: markup`<h1>Users</h1>
${listForm(LIST, chosen)}
${await ofFilters(USER_FILTERS, chosen, async (filters) => {
      const sort = sortOf(BY_TIME, chosen);
      const { items, next } = await listedUsers(ledger, {
        ...filters,
        sort,
        limit: USERS,
        ...(after === undefined ? {} : { cursor: after }),
      });
      return section(
        "list",
        headingOf(BY_TIME[sort]),
        markup`${userTable(items, nowMs)}${
          onward(LIST, chosen, { after, next })
        }
${sameCommand(LIST.command, chosen)}`,
      );
    })}`,
  };
}

function userTable(users: readonly UserJson[], nowMs: number): Markup {
  if (users.length === 0) return markup`<p class="soft">None.</p>`;
  return table(
    "Users",
    [
      { title: "User" },
      { title: "Status" },
      { title: "Country" },
      { title: "Created" },
      { title: "Verdict", sentence: true },
    ],
    users.map((user) => [
      userLink(user.userId),
      markup`${
        outside(user.status, 40)
      } <span class="soft">(${user.trust})</span>`,
      outside(user.country ?? user.phoneCountry, 40),
      when(user.createdAt, nowMs),
      brief(user.verdict.message),
    ]),
  );
}
