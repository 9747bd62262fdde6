// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import QRCodes

/// The page of a pupil: what the phone and the person know.
enum PhonePage {
  static func page(_ phone: PhoneView, in state: LessonState) -> HTML {
    let title = ClassText.phone.with(["number": ClassPhrase(phone.number)])
    return PageLayout.document(
      title, kind: "phone", isLive: true,
      content: """
        <header><h1>\(title)</h1>\
        \(PageLayout.live("time", "<p class=\"time\">\(PageLayout.time(state.now, in: state))</p>"))\
        </header>
        \(PageLayout.live("notice", notice(phone), isNews: true))
        <section aria-labelledby="body-heading"><h2 id="body-heading">\(ClassText.bodyHeading)</h2>
        \(PageLayout.live("body", body(phone, state), isNews: true))</section>
        \(share(phone))
        <section aria-labelledby="engine-heading">\
        <h2 id="engine-heading">\(ClassText.engineHeading)</h2>
        \(PageLayout.live("engine", engine(phone, state)))</section>
        <details><summary>\(ClassText.leaveHeading)</summary><p>\(ClassText.leaveText)</p>
        \(PageLayout.button(.leaveButton, action: "/phone/leave", id: "leave", isQuiet: true))\
        </details>
        """)
  }

  private static func notice(_ phone: PhoneView) -> HTML {
    let text: ClassText? =
      switch phone.noticeLevel {
      case .low where phone.isDiagnosed, .medium where phone.isDiagnosed,
        .high where phone.isDiagnosed:
        .noticeAfterTest
      case .low: .noticeLow
      case .medium: .noticeMedium
      case .high: .noticeHigh
      case nil, .unknown, .some(.none): nil
      }
    let content: HTML =
      text.map {
        "<p><strong>\($0)</strong></p><p>\(ClassText.noticePrivacy)</p>"
      } ?? "<p>\(ClassText.noNotice)</p>"
    return """
      <section class="card \(text == nil ? "calm" : "warning")" aria-labelledby="notice-heading">
      <h2 id="notice-heading">\(ClassText.noticeHeading)</h2>\(content)</section>
      """
  }

  /// Shows symptoms only, because a person does not notice an infection before them.
  private static func body(_ phone: PhoneView, _ state: LessonState) -> HTML {
    let feeling: ClassText =
      switch phone.health {
      case .well, .infected, .infectious: .feelWell
      case .ill: phone.isDiagnosed ? .feelIllTested : .feelIll
      case .recovered: .feelRecovered
      }
    var message: HTML = .none
    switch phone.test {
    case nil: break
    case .negative: message = "<p class=\"message\">\(ClassText.testNegative)</p>"
    case .positive(let pin, let end):
      message = """
        <p class="message">\(ClassText.testPositive)\
        <strong class="pin">\(pin.text)</strong>\
        \(.pinValid, ["time": PageLayout.time(end, in: state)])</p>
        """
    }
    return "<p>\(feeling)</p>\(message)"
  }

  private static func share(_ phone: PhoneView) -> HTML {
    """
    <section aria-labelledby="share-heading"><h2 id="share-heading">\(ClassText.shareHeading)</h2>
    <p>\(ClassText.shareText)</p>
    <form method="post" action="/phone/pin">
    <label for="pin">\(ClassText.pinLabel)</label>
    <input id="pin" name="pin" autocomplete="one-time-code" autocapitalize="characters" spellcheck="false" \
    maxlength="12" required aria-describedby="pin-hint">
    <p id="pin-hint" class="hint">\(ClassText.pinHint)</p>
    <button id="share" class="main">\(ClassText.shareButton)</button>
    </form>
    \(PageLayout.live("upload", phone.upload.map { "<p class=\"message\">\(outcome($0))</p>" } ?? "", isNews: true))
    </section>
    """
  }

  private static func outcome(_ outcome: UploadOutcome) -> HTML {
    switch outcome.reason {
    case nil: "\(ClassText.shareDone)"
    case .nothingToShare: "\(ClassText.shareNothing)"
    case .pinRefused: "\(ClassText.shareRefused)"
    case .invalidPIN: "\(ClassText.shareInvalid)"
    case .locked: "\(ClassText.shareLocked)"
    case .some(let failure): "\(.shareFailed, ["reason": .verbatim(failure.description)])"
    }
  }

  private static func engine(_ phone: PhoneView, _ state: LessonState) -> HTML {
    let check = phone.lastCheck.map { PageLayout.time($0, in: state) } ?? ClassText.never.with()
    let failed: HTML = phone.checkFailed ? "<p>\(ClassText.checkFailed)</p>" : .none
    return """
      <dl>
      <div><dt>\(ClassText.powerState)</dt><dd>\(phone.isOn ? ClassText.on : .off)</dd></div>
      <div><dt>\(ClassText.received)</dt><dd>\(phone.receivingScanCount)</dd></div>
      <div><dt>\(ClassText.exposures)</dt><dd>\(phone.exposureCount)</dd></div>
      <div><dt>\(ClassText.lastCheck)</dt><dd>\(check)</dd></div>
      </dl>\(failed)
      <div class="buttons">
      \(PageLayout.button(
        phone.isOn ? .turnOff : .turnOn, action: "/phone/power",
        values: ["on": phone.isOn ? "no" : "yes"], id: "power", isQuiet: true))
      \(PageLayout.button(.checkNow, action: "/phone/check", id: "check", isQuiet: true))
      </div>
      """
  }
}

/// The pages for browsers that have no phone yet.
enum JoinPages {
  /// The start page.
  static var join: HTML {
    PageLayout.document(
      ClassText.joinTitle.with(), kind: "phone",
      content: """
        <h1>\(ClassText.joinTitle)</h1>
        <p>\(ClassText.joinLead)</p>
        <p>\(ClassText.joinPrivacy)</p>
        \(PageLayout.button(.joinButton, action: "/join", id: "join"))
        """)
  }

  /// The start page of a class in which all phones are taken.
  static func full(_ phonesMax: Int) -> HTML {
    PageLayout.document(
      ClassText.fullTitle.with(), kind: "phone",
      content: """
        <h1>\(ClassText.fullTitle)</h1>
        <p role="alert">\(.fullText, ["max": ClassPhrase(phonesMax)])</p>
        <p><a href="/">\(ClassText.tryAgain)</a></p>
        """)
  }

  /// A browser whose phone was given back.
  static var ended: HTML {
    PageLayout.document(
      ClassText.endedTitle.with(), kind: "phone",
      content: """
        <h1>\(ClassText.endedTitle)</h1>
        <p role="alert">\(ClassText.endedText)</p>
        \(PageLayout.button(.joinButton, action: "/join", id: "join"))
        """)
  }

  /// The QR code on a whole page, for the projector.
  static func code(_ address: String, others: [String]) -> HTML {
    let items = others.map { other -> HTML in "<li><code>\(other)</code></li>" }
    let more: HTML =
      others.isEmpty ? .none : "<p>\(ClassText.otherAddresses)</p><ul>\(items)</ul>"
    return PageLayout.document(
      ClassText.qrTitle.with(), kind: "code",
      content: """
        <h1>\(ClassText.qrTitle)</h1>
        \(picture(of: address))
        <p>\(ClassText.qrText)</p>
        <p class="address"><code>\(address)</code></p>
        \(more)
        """)
  }

  /// A QR code. Its colours are the same in the dark color scheme, because readers expect dark on light.
  static func picture(of address: String) -> HTML {
    guard let code = QRCode(address) else { return .none }
    let size = code.size + 8
    return """
      <svg class="qr" role="img" aria-label="\(.qrPicture, ["address": .verbatim(address)])" \
      viewBox="0 0 \(size) \(size)" shape-rendering="crispEdges">\
      <rect width="\(size)" height="\(size)" fill="#fff"/>\
      <path d="\(code.svgPath())" fill="#000"/></svg>
      """
  }
}
