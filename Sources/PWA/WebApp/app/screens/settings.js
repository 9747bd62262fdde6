// SPDX-License-Identifier: Apache-2.0
import { announce } from "../announce.js";
import { request } from "../bridge-client.js";
import { el } from "../dom.js";
import { announceFailure, backLink, button, card, heading, linkButton } from "../parts/basics.js";
import { select, toggle } from "../parts/form.js";
import { redraw } from "../router.js";
import { change, setNotificationsOn, store } from "../store.js";
import { language, languages, loadTexts, t } from "../texts.js";

/** The states of the radio that have a text. */
const radio = { on: "on", off: "off", none: "none" };

/** The switches of the phone, the language, travel, export and deletion. */
export const settings = {
  name: "settings",
  title: "settings.title",
  isLive: true,
  render: () => el("div", { class: "narrow" }, backLink("/more", t("more.title")),
    heading(t("settings.title")),
    // The phone's switches are not known before its first answer.
    store.state ? [services(), notices(), languageCard(), travel(), data()]
      : el("p", {}, t("offline.unknown"))),
};

/** Changes the language everywhere: the pages, the phone and its notices. */
export async function chooseLanguage(tag) {
  await loadTexts(tag);
  try {
    await change(1010, { language: tag });
  } catch (error) {
    announceFailure(error);
  }
  await redraw();
  announce(t("settings.languageChanged"));
}

function services() {
  const { state } = store;
  return card(t("settings.services"), {},
    toggle("exposure-notifications", {
      title: t("settings.exposureNotifications"), text: t("settings.exposureNotifications.text"),
      isOn: Boolean(state?.enabled),
      change: setService,
    }),
    el("p", { "data-part": "bluetooth" }, el("strong", {}, `${t("settings.bluetooth")}: `),
      t(`settings.bluetooth.${radio[state?.radio] ?? "off"}`), " ",
      el("span", { class: "muted" }, t("settings.bluetooth.text"))));
}

function notices() {
  const { state } = store;
  return card(t("settings.notices"), {},
    toggle("notifications", {
      title: t("settings.notifications"), text: t("settings.notifications.text"),
      isOn: Boolean(state?.notifications), change: (isOn) => prefer({ notifications: isOn }),
    }),
    toggle("hide-details", {
      title: t("settings.hideDetails"), text: t("settings.hideDetails.text"),
      isOn: Boolean(state?.hidesDetails), change: (isOn) => prefer({ hidesDetails: isOn }),
    }));
}

function languageCard() {
  return card(t("settings.language"), {}, select("language", {
    title: t("settings.language.label"), chosen: language(), change: chooseLanguage,
    options: Object.entries(languages).map(([tag, name]) => [tag, name, tag]),
  }));
}

function travel() {
  const home = store.state?.region ?? "";
  const input = el("input", {
    id: "travel-region", class: "short", maxlength: 2, autocomplete: "off", autocapitalize: "characters",
    spellcheck: "false", "data-action": "travel-region", "aria-describedby": "travel-help",
  });
  const result = el("p", { role: "status", "data-message": "travel" });
  const go = async () => {
    const to = input.value.trim().toUpperCase();
    if (!isCountry(to)) {
      result.textContent = t("travel.unknown");
      return input.focus();
    }
    try {
      await request(1009, { to });
    } catch (error) {
      // The banner of a lost connection draws the screen again, without what was added to the old one.
      await redraw();
      return announceFailure(error);
    }
    result.textContent = t("travel.saved", { region: to });
    input.value = "";
  };
  return card(t("travel.title"), {}, el("p", {}, t("travel.text", { region: home })),
    el("div", { class: "field" }, el("label", { for: "travel-region" }, t("travel.label")),
      el("p", { class: "muted", id: "travel-help" }, t("travel.help")),
      el("div", { class: "inline" }, input, button("travel", t("travel.action"), go)), result));
}

/** True for the two letters of a country that the browser knows. */
function isCountry(code) {
  if (!/^[A-Z]{2}$/.test(code) || ["XX", "ZZ", "EU", "UN", "XA", "XB", "EZ"].includes(code)) return false;
  try {
    return new Intl.DisplayNames("en", { type: "region" }).of(code) !== code;
  } catch {
    return false;
  }
}

function data() {
  return card(t("settings.data"), {}, el("p", {}, t("settings.data.text")),
    el("div", { class: "actions" },
      button("export", t("settings.export"), exportData, { symbol: "share" }),
      linkButton("delete", t("delete.title"), "/delete", { symbol: "trash" })));
}

async function setService(isOn) {
  try {
    await setNotificationsOn(isOn);
  } catch (error) {
    await redraw();
    announceFailure(error);
  }
}

async function prefer(preferences) {
  try {
    await change(1010, preferences);
    announce(t("settings.saved"));
  } catch (error) {
    await redraw();
    announceFailure(error);
  }
}

/** Saves all data of the phone as a file. */
async function exportData() {
  const text = JSON.stringify(await request(1003), null, 2);
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = el("a", { href: address, download: "firebreak-my-data.json" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  announce(t("settings.exported"));
}
