// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension BrowserSuite {
  @Suite("Sharing a diagnosis in the web app")
  struct ShareFlowTests {
    @Test(
      "After a wrong PIN the right one is enough: all other answers are kept, and the keys arrive",
      .timeLimit(.minutes(Patience.minutes)))
    func pins() async throws {
      let scene = try await WebAppScene(daysOfUse: 3)
      let pin = try await scene.authority.pin()
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          try await browser.enter(WebAppScene.wrongPIN, date: "symptoms")
          try await browser.act("agree", to: "share-review")
          try await browser.act("send", to: "share-result")
          #expect(try await browser.count("[data-result=\"2\"]") == 1)
          #expect(scene.network.uploads == 0)
          try await browser.act("other-pin", to: "share")
          // Nothing but the PIN has to be entered again.
          try await browser.type(pin, into: "#pin")
          try await browser.act("continue", to: "share-date")
          #expect(
            try await browser.script("return document.getElementById('date-symptoms').checked")
              == true)
          try await browser.act("continue", to: "share-consent")
          try await browser.act("agree", to: "share-review")
          let preview = try await browser.message(
            1011, ["date": ["kind": "none", "day": .null]])
          #expect(preview["keys"].elements.count > 0)
          try await browser.act("send", to: "share-result")
          #expect(try await browser.count("[data-result=\"1\"]") == 1)
          #expect(scene.network.uploads == 1)
          // The PIN is neither in the address nor in the storage of the browser.
          let traces = try await browser.script(
            "return location.href + JSON.stringify({ ...localStorage, ...sessionStorage }) + document.cookie"
          )
          #expect(traces.string?.contains(pin) == false)
          // Home says thank you, what to do and until when, and does not ask for another test.
          try await browser.go("/", to: "home")
          #expect(try await browser.count("[data-reported=yes]") == 1)
          #expect(try await browser.count(".pin-card") == 0)
          let until = try await browser.script(
            """
            return Promise.all([import('/app/store.js'), import('/app/format.js')])
              .then(([{ store }, { dateInSentence }]) => dateInSentence(store.state.positiveTest.until));
            """)
          let advice = try await browser.text("[data-part=advice]")
          #expect(advice.contains("until \(until.string ?? "a day")"), "\(advice)")
          try await browser.go("/history", to: "history")
          #expect(try await browser.count("[data-list=shared] .entry") == 1)
          try await endFollowingDays(of: browser)
        }
      }
    }

    @Test(
      "The review previews the upload of the PIN, and names the days whose keys are not sent",
      .timeLimit(.minutes(Patience.minutes)))
    func withheldDays() async throws {
      let scene = try await WebAppScene(daysOfUse: 3)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          try await browser.enter(WebAppScene.wrongPIN, date: "symptoms")
          // The answer of a phone whose clock was wrong on two days.
          _ = try await browser.script(
            """
            const [ask, answer] = [
              window.webkit.messageHandlers.getBridgeData.postMessage, window.bridgeDataResponse];
            window.webkit.messageHandlers.getBridgeData.postMessage = (message) => {
              if (message.type === 1011) window.previewed = message.data;
              return ask(message);
            };
            window.bridgeDataResponse = (body, type, id) => {
              const isPreview = Number(type) === 1011;
              const withheldDays = ['2020-10-13', '2020-10-14'];
              return answer(
                isPreview ? JSON.stringify({ ...JSON.parse(body), withheldDays }) : body, type, id);
            };
            """)
          try await browser.act("agree", to: "share-review")
          let text = try await browser.text("[data-part=withheld]")
          let days = try await browser.script(
            """
            return import('/app/format.js')
              .then(({ utcDay }) => ['2020-10-13', '2020-10-14'].map((day) => utcDay(day)));
            """)
          #expect(days.elements.count == 2)
          for day in days.elements { #expect(text.contains(day.string ?? "a day"), "\(text)") }
          let previewed = try await browser.script("return JSON.parse(window.previewed).pin")
          #expect(previewed.string == WebAppScene.wrongPIN)
        }
      }
    }

    /// The owner agrees to share the keys of the following days, finds that in the history, and ends it.
    private func endFollowingDays(of browser: Browser) async throws {
      let card = "[data-part=following-days]"
      try await browser.go("/", to: "home")
      #expect(try await browser.count("\(card)[data-status=offered]") == 1)
      try await browser.act("share-days")
      try await browser.wait(
        until: "document.querySelector('\(card)')?.dataset.status === 'active'")
      try await browser.go("/history", to: "history")
      #expect(try await browser.text(card).contains("by itself"))
      try await browser.go("/", to: "home")
      try await browser.act("end-days")
      try await browser.wait(until: "!document.querySelector('\(card)')")
      #expect(try await browser.message(1000)["followingDays"]["status"] == "ended")
    }

    @Test(
      "If consent is refused, no PIN and no key leaves the phone",
      .timeLimit(.minutes(Patience.minutes)))
    func refused() async throws {
      let scene = try await WebAppScene(daysOfUse: 3)
      let pin = try await scene.authority.pin()
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          try await browser.enter(pin, date: "none")
          try await browser.act("refuse", to: "share-refused")
          let kinds = try await browser.message(1002)["messages"].elements.map { $0["kind"] }
          #expect(!kinds.contains("code") && !kinds.contains("upload"), "\(kinds)")
          #expect(try await browser.message(1000)["pendingUpload"] == false)
          // The PIN is still good.
          try await browser.enter(pin, date: "none")
          try await browser.act("agree", to: "share-review")
          try await browser.act("send", to: "share-result")
          #expect(try await browser.count("[data-result=\"1\"]") == 1)
        }
      }
    }

    @Test(
      "After a lost response and a killed phone, the phone finishes the upload by itself",
      .timeLimit(.minutes(Patience.minutes)))
    func interrupted() async throws {
      let scene = try await WebAppScene(daysOfUse: 3)
      let pin = try await scene.authority.pin()
      try await Browser.withRunning { browser in
        scene.network.set(.silent)
        try await scene.phone.serving(port: PhoneFixture.ownPort) { phone in
          try await browser.openFinished(phone)
          try await browser.enter(pin, date: "none")
          try await browser.act("agree", to: "share-review")
          try await browser.act("send", to: "share-progress")
          try await Patience.until { scene.network.uploads > 0 }
          try await browser.wait(until: "document.querySelector('[data-stage=sending]')")
          phone.process.send(SIGKILL)
          // The page notices, and does not claim a result that it does not know.
          try await browser.wait(until: "document.querySelector('[data-banner=offline]')")
          #expect(try await browser.count("[data-result=\"1\"]") == 0)
        }
        scene.network.set(.none)
        try await scene.phone.serving(port: PhoneFixture.ownPort) { _ in
          // The page finds the new process by itself.
          try await browser.wait(until: "!document.querySelector('[data-banner=offline]')")
          try await browser.go("/", to: "home")
          try await Patience.until { try await browser.message(1000)["pendingUpload"] == false }
          try await browser.wait(until: "!document.querySelector('[data-problem=upload]')")
        }
      }
      #expect(scene.network.uploads > 1)
    }

    @Test(
      "A PIN is taken from a pasted sentence and from a link, which leaves no trace in the address",
      .timeLimit(.minutes(Patience.minutes)))
    func pasted() async throws {
      let scene = try await WebAppScene(daysOfUse: 3)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          try await browser.go("/share?pin=ab12cd", to: "share")
          #expect(
            try await browser.script("return document.getElementById('pin').value") == "AB1 2CD")
          #expect(try await !browser.address().lowercased().contains("ab12cd"))
          try await browser.script(
            """
            const clipboardData = new DataTransfer();
            clipboardData.setData('text', 'Your PIN is XY34ZW. Keep it to yourself.');
            document.getElementById('pin').dispatchEvent(
              new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
            """)
          #expect(
            try await browser.script("return document.getElementById('pin').value") == "XY3 4ZW")
          for (text, pin) in Self.sentences {
            let found = try await browser.script(
              "const [text] = arguments; return import('/app/parts/pin.js').then(module => module.found(text))",
              .string(text))
            #expect(found == pin.map(JSONValue.string) ?? .null, "\(text)")
          }
          // The link of ProteGO Safe's contract opens the same screen.
          try await browser.open(
            phone.origin + "/firebreak/open/uploadHistoricalData?pin=D4E5F6")
          try await browser.waitForScreen("share")
          try await browser.wait(until: "document.getElementById('pin').value === 'D4E 5F6'")
        }
      }
    }

    private static let sentences: [(String, String?)] = [
      ("A1B 2C3", "A1B2C3"), ("a1b-2c3", "A1B2C3"), ("Twój PIN: XY3 4ZW", "XY34ZW"),
      ("Kod 123 ABC do 12:30", "123ABC"), ("Your code is a1b2c3, thanks", "A1B2C3"),
      ("https://example.org/#/share?pin=A1B2C3&x=1", "A1B2C3"), ("hello", nil), ("123456", nil),
      ("A1B2C3 or D4E5F6", nil), ("?pin=%zz", nil),
      // The code of a doctor, as the console shows it and as people write it.
      ("12345678", "12345678"), ("1234-5678", "12345678"), ("1234 5678", "12345678"),
      ("?pin=12345678", "12345678"),
      // Typed on a Ukrainian keyboard.
      ("АВ2-СD3", "AB2CD3"),
    ]

    @Test(
      "The result of an upload reaches an owner who has left or reloaded the page",
      .timeLimit(.minutes(Patience.minutes)))
    func left() async throws {
      let scene = try await WebAppScene(daysOfUse: 3)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          scene.network.set(.silent)
          try await browser.enter(try await scene.authority.pin(), date: "none")
          try await browser.act("agree", to: "share-review")
          try await browser.act("send", to: "share-progress")
          try await browser.wait(until: "document.querySelector('[data-stage=sending]')")
          try await browser.reload()
          try await browser.waitForScreen("share-progress")
          try await browser.go("/share", to: "share")
          #expect(try await browser.count("[data-action=progress]") == 1)
          try await browser.go("/", to: "home")
          scene.network.set(.closing)
          try await browser.wait(until: "document.querySelector('[data-problem=upload-result]')")
          try await browser.act("upload-result", to: "share-result")
          #expect(try await browser.count("[data-reason=noInternet]") == 1)
          try await browser.go("/", to: "home")
          try await browser.wait(until: "!document.querySelector('[data-problem=upload-result]')")
          // Opening the address of the progress again sends nothing.
          scene.network.set(.none)
          let uploads = scene.network.uploads
          try await browser.go("/share/progress", to: "share-unfinished")
          #expect(scene.network.uploads == uploads)
        }
      }
    }
  }
}

extension Browser {
  /// Opens the app of a phone that is in use: its owner has finished the onboarding.
  func openFinished(_ phone: WebPhone) async throws {
    try await open(phone.address)
    try await wait(until: "document.querySelector('main[data-screen]')")
    try await message(1004, ["step": "consent"])
    try await message(1004, ["step": "finish"])
    try await open(phone.address)
    try await waitForScreen("home")
  }

  /// Goes from the home screen to the consent screen.
  func enter(_ pin: String, date: String) async throws {
    try await go("/", to: "home")
    try await act("enter-pin", to: "share")
    try await type(pin, into: "#pin")
    try await act("continue", to: "share-date")
    try await act("date-\(date)")
    try await act("continue", to: "share-consent")
  }
}
