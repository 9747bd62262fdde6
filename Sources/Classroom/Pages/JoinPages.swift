import Foundation
import QRCodes

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
