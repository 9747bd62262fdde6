// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QRCodes
import QuietHTTP

extension ChangePages {
  /// The page with the links of accounts, each as a letter of its own when the page is printed.
  func lettersPage(
    _ title: String, _ invited: [(account: String, token: String)], _ visit: Visit
  ) -> Response {
    let texts = visit.texts
    let until = texts[.linksUntil, texts.time(execution.links.end)]
    let letters = invited.enumerated().map { index, invitation -> [String: Any] in
      let letter = AccountLetter(
        account: invitation.account, address: "\(visit.origin)/start/\(invitation.token)",
        until: until)
      return letter.values(id: index == 0 ? "link" : "link-\(index + 1)", texts)
    }
    return pages.renderer.response(
      Page(title, .letters, ["title": title, "letters": letters]), for: visit)
  }
}

/// The letter with the link of an account.
struct AccountLetter {
  let account: String
  let address: String
  /// The sentence with the end of the link.
  let until: String

  func values(id: String, _ texts: Texts) -> [String: Any] {
    [
      "id": id, "account": account, "greeting": texts[.letterGreeting, account],
      "address": address, "until": until, "mail": mail(texts),
      "mailName": "\(texts[.letterMail]): \(account)",
      "picture": QRCode(address).map {
        Picture.svg(of: $0, title: texts[.letterPicture, account])
      } ?? "",
    ]
  }

  /// An address that opens a new e-mail with the text of the letter, without a recipient.
  func mail(_ texts: Texts) -> String {
    let text = [texts[.letterGreeting, account], address, until, texts[.letterSteps]]
    let fields = [
      ("subject", texts[.letterSubject]), ("body", text.joined(separator: "\r\n\r\n")),
    ]
    return "mailto:?" + fields.map { "\($0)=\(Self.encoded($1))" }.joined(separator: "&")
  }

  /// RFC 6068: only unreserved characters stand for themselves.
  private static func encoded(_ text: String) -> String {
    let unreserved = CharacterSet(
      charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
    return text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  static let template = """
    <h1 class="no-print">{{title}}</h1>
    <p class="lead no-print">{{t.linkLead}}</p>
    <p class="notice no-print">{{t.shownOnce}}</p>
    {{#letters}}
    <section class="card letter" aria-label="{{account}}">
    <h2>{{t.console}}</h2>
    <p>{{greeting}}</p>
    <p class="secret"><a id="{{id}}" href="{{address}}">{{address}}</a></p>
    {{{picture}}}
    <p><strong>{{until}}</strong></p>
    <p>{{t.letterSteps}}</p>
    <p class="no-print"><a class="button" id="mail-{{id}}" href="{{mail}}" aria-label="{{mailName}}">\
    {{t.letterMail}}</a></p>
    </section>
    {{/letters}}
    <p class="help no-print">{{t.letterMailHelp}}</p>
    <p class="no-print"><a class="button" href="/accounts">{{t.back}}</a></p>
    """
}
