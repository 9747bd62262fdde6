// SPDX-License-Identifier: Apache-2.0
import { about } from "./screens/about.js";
import { advice } from "./screens/advice.js";
import { deletion } from "./screens/delete.js";
import { developer } from "./screens/developer.js";
import { home } from "./screens/home.js";
import { more } from "./screens/more.js";
import { onboarding } from "./screens/onboarding.js";
import { pastEvents } from "./screens/history.js";
import { settings } from "./screens/settings.js";
import { sharePIN } from "./screens/share-pin.js";
import { shareProgress, shareReview } from "./screens/share-review.js";
import { shareResult, shareUnfinished } from "./screens/share-result.js";
import { shareConsent, shareDate, shareRefused } from "./screens/share-steps.js";
import { textPages } from "./screens/pages.js";
import { traffic } from "./screens/traffic.js";
import { why } from "./screens/why.js";

/** The screens by path. */
export const screens = {
  ...onboarding, ...textPages,
  "/": home,
  "/why": why,
  "/advice": advice,
  "/share": sharePIN,
  "/share/date": shareDate,
  "/share/consent": shareConsent,
  "/share/refused": shareRefused,
  "/share/review": shareReview,
  "/share/progress": shareProgress,
  "/share/result": shareResult,
  "/share/unfinished": shareUnfinished,
  "/history": pastEvents,
  "/more": more,
  "/settings": settings,
  "/delete": deletion,
  "/traffic": traffic,
  "/about": about,
  "/developer": developer,
};
