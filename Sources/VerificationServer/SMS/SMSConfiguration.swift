/// How codes are sent to phones.
public struct SMSConfiguration: Sendable {
  /// Who carries the texts.
  public var sender: any SMSSending
  /// The texts by label, with the variables `[region]`, `[code]`, `[expires]`, `[longcode]`,
  /// `[longexpires]` and `[enslink]`; each must show a code.
  public var templates: [String: String]
  /// The label of the text that is taken where none is asked for, and for user reports.
  public var defaultTemplate: String
  /// The region of `[region]` and of links, such as `PL` or `US-WA`.
  public var region: String
  /// The domain of links `https://<region>.<domain>/v?c=…`; without one links are `ens://v?…`.
  public var linkDomain: String?
  /// Signs texts so that phones can tell them from others'; without one they are not signed.
  public var signer: SMSSigner?

  /// Texts of one template, sent by `sender`.
  public init(
    sender: any SMSSending, region: String, template: String = Self.standardTemplate,
    linkDomain: String? = nil, signer: SMSSigner? = nil
  ) {
    self.sender = sender
    self.region = region
    templates = [Self.standardLabel: template]
    defaultTemplate = Self.standardLabel
    self.linkDomain = linkDomain
    self.signer = signer
  }

  /// The label of the first template.
  public static let standardLabel = "Default SMS template"
  /// The text that is sent unless another is set.
  public static let standardTemplate =
    "Your exposure notification code. Open the link, it is good for [longexpires] hours: [enslink]"

  /// The domain of links in lower case.
  var linkHost: String? { linkDomain.map { "\(region.lowercased()).\($0)" } }

  /// - Throws: `VerificationServerError.badConfiguration`, which names the field.
  func validate() throws {
    guard templates[defaultTemplate] != nil else {
      throw VerificationServerError.badConfiguration(
        "sms.defaultTemplate: must be the label of one of the templates.")
    }
    for (label, text) in templates {
      guard text.count <= VerificationLimit.smsTemplateCharactersMax,
        ["[code]", "[longcode]", "[enslink]"].contains(where: text.contains)
      else {
        throw VerificationServerError.badConfiguration(
          "sms.templates[\(label)]: must show [code], [longcode] or [enslink], and have at most"
            + " \(VerificationLimit.smsTemplateCharactersMax) characters.")
      }
    }
  }
}
