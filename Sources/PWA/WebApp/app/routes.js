// SPDX-License-Identifier: Apache-2.0
/** The paths of this app for the screens that message 69 names: those of ProteGO Safe's web app. */
const paths = {
  home: "/", dailyData: "/", riskTest: "/", uploadHistoricalData: "/share", pinReceiver: "/share",
  historyActivities: "/history", recommendations: "/advice", diagnosis: "/why", howItWorks: "/how", menu: "/more",
  settings: "/settings", settingsBluetooth: "/settings", settingsLanguages: "/settings",
  settingsNotifications: "/settings", userDataSettings: "/delete", privacyPolicy: "/privacy",
  privacyPolicyDetails: "/privacy", regulations: "/privacy", reportBug: "/support", iAmSick: "/advice",
  importantInformation: "/advice",
};

/** The path for the content of message 69; `null` for a screen that this app does not have. */
export function pathOfRoute(route) {
  const path = Object.hasOwn(paths, route?.name ?? "") ? paths[route.name] : null;
  const pin = route?.params?.pin;
  return path === "/share" && typeof pin === "string" ? `/share?pin=${encodeURIComponent(pin)}` : path;
}
