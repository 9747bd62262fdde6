// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension BrowserSuite {
  @Suite("Another web app that was written for the bridge")
  struct OtherAppTests {
    /// The files of the app, which knows nothing of Firebreak.
    private static let folder = SharedData.projectRoot
      .appendingPathComponent("Tests/WebAppTests/OtherApp")

    @Test(
      "The app runs unchanged: inline script, both interfaces, router, service worker and pushes",
      .timeLimit(.minutes(Patience.minutes)))
    func unchanged() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await scene.phone.serving(pages: Self.folder) { phone in
        try await Browser.withRunning { browser in
          try await browser.open(phone.address)
          try await browser.wait(until: "root.dataset.route === '/'")
          #expect(try await browser.script("return window.hadInterfaces") == true)
          try await askViaBoth(browser)
          try await receivePushes(browser)
          try await route(browser)
          try await browser.wait(until: "navigator.serviceWorker.controller")
          #expect(try await browser.script("return caches.keys()") == ["other-app"])
          #expect(try await browser.errorLog() == [])
        }
      }
    }

    private func askViaBoth(_ browser: Browser) async throws {
      for interface in ["viaIOS", "viaAndroid"] {
        func ask(_ type: Int) async throws -> JSONValue {
          try await browser.script(
            "return otherApp[arguments[0]](arguments[1])", .string(interface), .number(Double(type))
          )
        }
        #expect(try await ask(51)["servicesStatus"]["exposureNotificationStatus"] == 2)
        #expect(try await ask(61) == ["riskLevel": 0])
        #expect(try await ask(62)["appVersion"].string?.isEmpty == false)
        #expect(try await ask(63)["language"].string?.count == 2)
        #expect(try await ask(90)["notifications"] == [])
        #expect(try await ask(82) == ["code": .null])
        #expect(try await ask(999)["error"]["code"] == "unknownMessage")
      }
    }

    /// A message without an answer takes effect, and its effect is pushed.
    private func receivePushes(_ browser: Browser) async throws {
      try await browser.wait(
        until: "pushes.some(p => p.type === 11 && JSON.parse(p.data).appState === 1)")
      for (interface, isOn, status) in [("setViaIOS", true, 1), ("setViaAndroid", false, 2)] {
        try await browser.script(
          "pushes.length = 0; otherApp[arguments[0]](52, { enableExposureNotificationService: arguments[1] })",
          .string(interface), .bool(isOn))
        try await browser.wait(
          until: """
            pushes.some(p => p.type === 51
              && JSON.parse(p.data).servicesStatus.exposureNotificationStatus === a[0])
            """, .number(Double(status)))
      }
    }

    private func route(_ browser: Browser) async throws {
      try await browser.script("otherApp.go('/historyActivities')")
      try await browser.wait(until: "root.dataset.route === '/historyActivities'")
      // A route of the app is an address: it can be loaded.
      try await browser.reload()
      try await browser.wait(until: "root.dataset.route === '/historyActivities'")
      try await browser.back()
      try await browser.wait(until: "root.dataset.route === '/'")
    }
  }

  @Suite("Other pages in the same browser")
  struct ForeignPageTests {
    @Test(
      "A page of another origin can neither frame, read nor send messages to the phone",
      .timeLimit(.minutes(Patience.minutes)))
    func foreign() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          // The browser has the secret of the phone.
          try await browser.open(phone, expecting: "welcome")
          #expect(try await browser.cookies().count == 1)
          // Another origin with the same host: cookies do not know ports.
          try await browser.open(scene.authority.keys + "/index.txt")
          let results = try await browser.script(Self.attack, .string(phone.origin))
          #expect(results.elements.allSatisfy { $0["refused"] == true }, "\(results)")
          #expect(results.elements.count == 4)
          #expect(try await isFrameRefused(browser, phone))
        }
        // The sent message had no effect.
        #expect(try await scene.phone.facts(.status)["enabled"] as? Bool == false)
      }
    }

    /// Puts the phone into a frame. Chromium shows an error page if the phone refuses it.
    private func isFrameRefused(_ browser: Browser, _ phone: WebPhone) async throws -> Bool {
      try await browser.script(
        """
        return new Promise(resolve => {
          const frame = document.createElement('iframe');
          frame.onload = resolve;
          frame.src = arguments[0];
          document.body.append(frame);
        })
        """, .string(phone.address))
      let frames = try await browser.devTools("Page.getFrameTree")["frameTree"]["childFrames"]
        .elements
      return frames.count == 1
        && frames.allSatisfy { $0["frame"]["url"].string?.hasPrefix("chrome-error:") == true }
    }

    /// Each attempt says if it was refused.
    private static let attack = #"""
      const [origin] = arguments;
      const body = '{"type":1004,"data":"{\\"step\\":\\"consent\\"}","requestId":"request-1"}';
      const attempt = (name, action) => action().then(
        () => ({ name, refused: false }), () => ({ name, refused: true }));
      const load = (name, source) => new Promise((resolve, reject) => {
        const element = document.createElement(name);
        element.onload = resolve;
        element.onerror = reject;
        element.src = source;
        document.body.append(element);
      });
      const send = options => fetch(`${origin}/firebreak/messages`, {
        method: 'POST', body, credentials: 'include', ...options,
      });
      return Promise.all([
        attempt('message', () => send({
          headers: { 'Content-Type': 'application/json', 'X-Firebreak-Bridge': '1' },
        })),
        // Its response is opaque, so it counts as refused if it has no effect, which the test checks.
        attempt('simple message', () => send({ mode: 'no-cors' }).then(() => { throw new Error(); })),
        attempt('script', () => load('script', `${origin}/firebreak/bridge.js`)),
        attempt('events', () => new Promise((resolve, reject) => {
          const events = new EventSource(`${origin}/firebreak/events`, { withCredentials: true });
          events.onopen = resolve;
          events.onerror = () => { events.close(); reject(); };
        })),
      ]);
      """#
  }

  @Suite("The web app without the phone process")
  struct OfflineTests {
    @Test(
      "The app opens from its cache, shows that the phone does not answer, and recovers by itself",
      .timeLimit(.minutes(Patience.minutes)))
    func offline() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await Browser.withRunning { browser in
        try await scene.phone.serving(port: PhoneFixture.ownPort) { phone in
          try await browser.openFinished(phone)
          // The service worker has cached all files.
          try await browser.wait(until: "navigator.serviceWorker.controller")
          try await browser.wait(
            until: "caches.match('/app/screens/why.js').then(kept => kept || Promise.reject())")
        }
        try await browser.reload()
        try await browser.wait(until: "document.querySelector('main[data-screen]')")
        #expect(try await browser.count("[data-banner=offline]") == 1)
        #expect(try await browser.text("h1").isEmpty == false)
        try await scene.phone.serving(port: PhoneFixture.ownPort) { _ in
          try await browser.wait(until: "!document.querySelector('[data-banner=offline]')")
          try await browser.waitForScreen("home")
        }
      }
    }
  }
}
