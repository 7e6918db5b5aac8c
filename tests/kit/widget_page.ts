// What a page of the tests holds: the official SDK and the widget's module,
// where scripts typed into the page find them.
import WertWidget from "@wert-io/widget-initializer";
import * as rampkit from "../../widget/mod.ts";

Object.assign(globalThis, { WertWidget, rampkit });
