import { ON_CALL } from "../../../resources/health/on_call.ts";
import { HEALTH_PARTS } from "../../../resources/health/subjects.ts";
import {
  explainedAt,
  type HealthPart,
  MEANINGS,
  styleOf,
} from "../health/health_bar.ts";
import { type Markup, markup, section } from "../markup/markup.ts";
import { prose } from "../markup/outside.ts";
import { when } from "../markup/times.ts";
import type { PageParts } from "./layout.ts";

/** Health of everything, with what to do about it. */
export function healthPage(
  parts: readonly HealthPart[],
  nowMs: number,
): PageParts {
  return {
    title: "Health",
    body: markup`<h1>Health</h1>
${
      HEALTH_PARTS.map((name) =>
        section(
          `part-${name}`,
          name,
          markup`<p class="soft">${MEANINGS[name]}</p>${
            parts.filter((part) => part.name === name)
              .flatMap(({ findings }) => findings)
              .map((one) => finding(one, nowMs))
          }`,
        )
      )
    }
<p><code>rampkit doctor</code> looks at settings and backups as well.</p>`,
  };
}

function finding(
  one: HealthPart["findings"][number],
  nowMs: number,
): Markup {
  const { code, level, since, detail, next } = one;
  const more = ON_CALL[code]?.split("\n\n").map((text) =>
    markup`<p>${prose(text)}</p>`
  );
  const page = explainedAt(one);
  return markup`<div class="item" id="${code}"><p><strong class="${
    styleOf(level)
  }">${prose(detail)}.</strong>${
    since !== null && markup` Since ${when(since, nowMs)}.`
  } <span class="tag">${code}</span></p>
${
    next !== null &&
    markup`<p><span class="soft">Next:</span> ${prose(next)}</p>`
  }
${
    more !== undefined &&
    markup`<details><summary>More</summary>${more}</details>`
  }
${
    !page.startsWith("/health") &&
    markup`<p><a href="${page}">Look at it</a></p>`
  }</div>`;
}
