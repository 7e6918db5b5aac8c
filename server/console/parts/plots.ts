import { type Markup, markup } from "../markup/markup.ts";
import { PLOTS, RANGES } from "./figures.ts";

/** The boxes that the script draws plots into, and the choice of a range. */
export function plots(range: string): Markup {
  const choices = Object.keys(RANGES).map((one) =>
    markup`<a class="button" href="/delivery?range=${one}" ${
      one === range && markup`aria-current="true"`
    }>${one}</a> `
  );
  const boxes = Object.entries(PLOTS).map(([name, what]) =>
    markup`<h3>${what}</h3>
<div class="plot" data-plot="${name}" role="img" aria-label="${what}"></div>`
  );
  return markup`<p class="row">The last ${choices} <span class="soft">Each point is ${
    RANGES[range]?.each ?? ""
  }.</span></p>
<noscript><p class="notice">Plots need script. <code>rampkit doctor</code> and the lists below do without.</p></noscript>
<div id="plots" data-range="${range}">${boxes}</div>
<p class="soft">A running <code>serve</code> writes these figures each minute. A dashed line is when the watchdog began to see something.</p>`;
}
