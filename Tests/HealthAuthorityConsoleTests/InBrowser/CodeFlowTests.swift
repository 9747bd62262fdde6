// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import TestSupport
import Testing
import TextEncodings

@testable import HealthAuthorityConsole

extension ConsoleInBrowser {
  /// An issuer's work, without scripts.
  @Suite("Codes at the console") struct CodeFlowTests {
    @Test(
      "Codes for a person present and for one on the phone are shown large, with QR code, link and SMS",
      .timeLimit(.minutes(Patience.minutes)))
    func issue() async throws {
      try await ConsoleVisit.run(
        scripts: false,
        configure: {
          $0.appAddress = URL(string: "https://app.example/")
          $0.sendsSMS = true
        }
      ) { visit async throws in
        let browser = visit.browser
        try await visit.signIn(.issuer, name: "Anna")
        try await visit.follow("main a[href='/codes/new']")
        // As the field takes it in American English.
        try await browser.type("01122027", into: "#symptoms")
        try await visit.follow("#issue")
        try await visit.arrive(at: "The code")
        #expect(try await browser.text("#issued-code") == "AB1 01C")
        let sizes = try await browser.script(
          """
          return [parseFloat(getComputedStyle(document.querySelector('#issued-code')).fontSize),
            document.querySelector('svg.qr-code').getBoundingClientRect().width]
          """
        ).elements.compactMap(\.number)
        #expect(sizes[0] >= 48 && sizes[1] >= 180, "\(sizes)")
        let address = "https://app.example/#/share?pin=AB101C"
        #expect(try await browser.text("#app-link") == address)
        let target = try await browser.script("return document.querySelector('#app-link').href")
        #expect(target == .string(address))
        #expect(try await browser.text("#sms").contains("AB101C"))
        #expect(try await browser.count("main a[href^='sms:']") == 1)

        try await visit.follow("#next")
        try await browser.click("[name=test][value=likely]")
        try await browser.type("+48 123 456 789", into: "#phone")
        try await visit.follow("#issue")
        #expect(try await browser.text("#issued-code") == "AB1 02C")
        let requests = visit.console.authority.state.requests
        #expect(requests.map(\.symptomDate) == ["2027-01-12", nil])
        #expect(requests.map(\.phone) == [nil, "+48123456789"])
        #expect(requests.map(\.testType) == [.confirmed, .likely])
      }
    }

    @Test(
      "In windows of every width, all buttons of the codes and the accounts are on the screen, in Polish too",
      .timeLimit(.minutes(Patience.minutes)))
    func narrow() async throws {
      try await ConsoleVisit.run(scripts: true) { visit async throws in
        let browser = visit.browser
        try await visit.open("/language/pl?next=/sign-in")
        try await visit.signIn(.administrator, name: "Aleksandra Nowakowska")
        try await visit.open("/codes/new")
        try await visit.follow("#issue")
        for width in [360, 600, 820, 897, 1024, 1153, 1280] {
          try await browser.emulate(EmulatedDisplay(width: width))
          for (path, buttons) in [("/codes/issued", 2), ("/accounts", 2)] {
            try await visit.open(path)
            let places = try await browser.script(
              """
              const right = document.querySelector('.wide').getBoundingClientRect().right;
              return [...document.querySelectorAll('.wide .quiet')]
                .map(button => button.getBoundingClientRect().right <= right + 1);
              """
            ).elements
            #expect(places.count == buttons, "\(path), \(width)")
            #expect(places.allSatisfy { $0 == true }, "\(path), \(width)")
            // WebKit gives the parts of a table no roles of their own if they are blocks.
            let bare = "table, table :is(thead, tr, th, td)"
            let without = try await browser.script(
              "return document.querySelectorAll(arguments[0]).length",
              .string(":is(\(bare)):not([role])"))
            #expect(without == .number(0), "\(path), \(width)")
          }
        }
        try await browser.emulate(EmulatedDisplay())
      }
    }

    @Test(
      "With its number, a code is looked up and ended", .timeLimit(.minutes(Patience.minutes)))
    func status() async throws {
      try await ConsoleVisit.run(scripts: false) { visit async throws in
        let browser = visit.browser
        try await visit.signIn(.issuer, name: "Anna", to: "/codes/new")
        try await visit.follow("#issue")
        let number = try await browser.text("main #uuid")
        try await visit.follow(".menu a[href='/codes/status']")
        try await browser.type(number, into: "#uuid")
        try await visit.follow("#look-up")
        #expect(try await browser.text("#state").hasPrefix("The code was not used yet."))
        try await visit.follow("#expire")
        #expect(try await browser.text("#notice") == "The code was ended.")
        #expect(try await browser.text("#state").hasPrefix("The code was not used. It expired at"))
        #expect(try await browser.count("#expire") == 0)
        try await browser.type("AB101C", into: "#uuid")
        try await visit.follow("#look-up")
        #expect(try await visit.message().hasPrefix("A number looks like"))
      }
    }

    @Test(
      "A list that is dropped on the field is issued", .timeLimit(.minutes(Patience.minutes)),
      arguments: ConsoleLanguage.allCases)
    func dropped(language: ConsoleLanguage) async throws {
      let folder = try TemporaryFolder()
      try await ConsoleVisit.run(scripts: false) { visit async throws in
        let browser = visit.browser
        let list = folder.path("list.csv")
        try Data("A-17,confirmed,2027-01-12\nA-18,likely,\n".utf8).write(to: list)
        try await visit.signIn(.issuer, name: "Anna", to: "/codes/batch")
        try await visit.open("/language/\(language.rawValue)?next=/codes/batch")
        try await browser.drop(list, on: "#file")
        let name = try await browser.script("return document.querySelector('#file').files[0].name")
        #expect(name == .string("list.csv"))
        try await visit.follow("#batch-show")
        let cells = try await browser.script(
          "return [...document.querySelectorAll('#codes tbody th')].map(cell => cell.innerText)")
        #expect(cells == ["A-17", "A-18"])
        #expect(visit.console.authority.state.requests.count == 2)
      }
    }

    @Test(
      "A list is issued from a file as CSV and from pasted lines as a page",
      .timeLimit(.minutes(Patience.minutes)))
    func batch() async throws {
      let folder = try TemporaryFolder()
      try await ConsoleVisit.run(scripts: false) { visit async throws in
        let browser = visit.browser
        try await browser.storeDownloads(in: folder.url)
        let list = folder.path("list.csv")
        try Data("A-17,confirmed,2027-01-12\nA-18,likely,\n".utf8).write(to: list)
        try await visit.signIn(.issuer, name: "Anna", to: "/codes/batch")
        try await browser.choose(list, in: "#file")
        try await browser.click("#batch-download")
        let csv = try await browser.download(folder.path("codes.csv"))
        let rows = CSV.fields(csv).map { Array($0.prefix(2)) }
        #expect(rows == [["Reference", "Code"], ["A-17", "AB101C"], ["A-18", "AB102C"]])

        try await visit.open("/codes/batch")
        try await browser.type("B-1,confirmed,\nB-2,positive,", into: "#lines")
        try await visit.follow("#batch-show")
        #expect(try await visit.message().hasPrefix("Line 2: the test must be"))
        try await browser.type("B-1,confirmed,\nB-2,likely,", into: "#lines")
        try await visit.follow("#batch-show")
        let summary = try await browser.text("#summary")
        #expect(summary == "2 codes issued, 0 lines with a fault.")
        let cells = try await browser.script(
          "return [...document.querySelectorAll('#codes td.code')].map(cell => cell.innerText)")
        #expect(cells == ["AB103C", "AB104C"])
      }
    }
  }
}
