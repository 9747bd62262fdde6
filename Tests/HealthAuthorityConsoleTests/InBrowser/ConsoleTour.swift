// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import KeyServerAPI
import TestSupport

@testable import HealthAuthorityConsole

/// A way through all pages of the console.
struct ConsoleTour {
  let visit: ConsoleVisit
  /// Called at each page with its name.
  let stop: (_ page: String) async throws -> Void

  private var browser: Browser { visit.browser }

  /// - Parameter later: The language of the second half of the pages.
  func play(in language: ConsoleLanguage, later: ConsoleLanguage) async throws {
    try await visit.open("/language/\(language.rawValue)?next=/sign-in")
    try await signedOut()
    let ewa = try await visit.console.administration.addAccount(
      name: "Ewa Lis", role: .epidemiologist)
    let olga = try await visit.console.administration.addAccount(
      name: "Olga Maj", role: .administrator)
    try await visit.signIn(.administrator, name: "Adam Nowak")
    try await stop("home")
    try await accounts()
    try await codes()
    try await visit.open("/language/\(later.rawValue)?next=/phones")
    try await phonesAndKeys()
    try await statistics()
    try await proposal()
    try await page("audit", "/audit")
    try await visit.signOut()
    try await visit.signIn(olga)
    let link = try await decisions()
    try await visit.signOut()
    try await browser.open(link)
    try await stop("start")
    try await visit.signIn(ewa, to: "/configuration")
    try await stop("approval")
    try await visit.follow("[id^=approve]")
    try await stop("approved")
  }

  private func page(_ name: String, _ path: String) async throws {
    try await visit.open(path)
    try await stop(name)
  }

  private func signedOut() async throws {
    try await visit.open("/sign-in")
    try await visit.fill(name: "Adam Nowak", password: "wrong")
    try await browser.type("000000", into: "#code")
    try await visit.follow("#sign-in")
    try await stop("sign-in")
    try await page("missing", "/nowhere")
  }

  private func accounts() async throws {
    try await page("accounts", "/accounts")
    try await browser.type("Marek Zając", into: "#name")
    try await browser.click("[name=role][value=issuer]")
    try await visit.follow("#add-account")
    try await stop("change")
    try await browser.type("He replaces Anna Lis in the laboratory", into: "#reason")
    try await visit.follow("#request")
    try await stop("requested")
    try await page("account-import", "/accounts/import")
    try await visit.open("/own")
    try await browser.withAuthenticator { _ in
      try await browser.type("laptop", into: "#passkey-name")
      try await visit.follow("#add-passkey")
      try await stop("own")
    }
  }

  /// The decisions of a second administrator.
  ///
  /// - Returns: The link for a new account.
  private func decisions() async throws -> String {
    try await stop("home-waiting")
    try await page("changes", "/changes")
    try await visit.follow("#approve-1")
    let link = try await browser.text("#link")
    try await stop("account-link")
    try await visit.open("/changes")
    try await visit.follow("#approve-3")
    try await stop("key-shown")
    return link
  }

  private func codes() async throws {
    try await page("issue", "/codes/new")
    try await visit.follow("#issue")
    let number = try await browser.text("main #uuid")
    try await stop("issued")
    try await visit.open("/codes/status")
    try await browser.type(number, into: "#uuid")
    try await visit.follow("#look-up")
    try await stop("status")
    try await visit.open("/codes/batch")
    try await browser.type(
      "A-17,confirmed,\nA-18,positive,\nA-19,likely,2026-13-01\nA-17,likely,", into: "#lines")
    try await visit.follow("#batch-show")
    try await stop("batch")
    try await browser.type("A-17,confirmed,\nA-18,likely,", into: "#lines")
    try await visit.follow("#batch-show")
    try await stop("batch-codes")
    try await visit.open("/codes/batch")
    try await browser.type("A-19,confirmed,,+48123456789", into: "#lines")
    try await visit.follow("#batch-show")
    let list = try await browser.text("#number")
    try await Patience.until {
      try await visit.open("/codes/batch/\(list)")
      return try await browser.count("#no-updates") == 0
    }
    try await stop("sms-list")
    try await page("issued-codes", "/codes/issued")
    try await page("code-rules", "/codes/rules")
  }

  private func phonesAndKeys() async throws {
    try await visit.open("/phones")
    try await browser.type("2", into: "#hours")
    try await visit.follow("#pause")
    try await browser.type("The last file may be wrong", into: "#reason")
    try await visit.follow("#now")
    try await stop("phones")
    try await page("keys", "/keys")
    try await browser.type("hospital", into: "#api-name")
    try await browser.click("[name=kind][value=admin]")
    try await visit.follow("#add-api-key")
    try await browser.type("The hospital issues codes itself", into: "#reason")
    try await visit.follow("#request")
  }

  private func statistics() async throws {
    try await page("funnel", "/funnel")
    try await page("officials", "/officials")
    try await page("issuers", "/issuers")
    try await page("exports", "/exports")
  }

  private func proposal() async throws {
    try await page("configuration", "/configuration")
    try await visit.open("/configuration?as=json")
    try await visit.replace("1499", with: "1200")
    try await browser.type(
      "Fewer false alarms, as the field trial has shown", into: "#reason")
    try await visit.follow("#preview")
    try await stop("preview")
    try await visit.follow("#propose")
  }
}
