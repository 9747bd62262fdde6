import ExposureNotification

/// One question as the page puts it.
struct ConsentQuestion: Sendable {
  /// What an answer has to name.
  let id: String
  /// The app that asks.
  let app: String
  let request: ConsentRequest

  /// What a yes means, in a sentence the person can decide by (Documentation/Framework.md 5).
  var sentence: String {
    switch request {
    case .enableExposureNotification:
      "Exchange random identifiers with phones nearby. They change every quarter of an hour and name nobody."
    case .shareDiagnosisKeys:
      "Share your random identifiers of the last 14 days, so that people you were near can be told."
    case .showExposureInfo(let explanation):
      "Show the app each of your exposures: \(explanation)"
    case .preAuthorizeDiagnosisKeys:
      "Share your random identifiers once within five days without asking again, should your test be positive."
    case .showTravelStatus:
      "Tell the app whether you have been outside its region."
    }
  }
}
