import QuietHTTP

extension Netmasks {
  /// What a list of them needs, for whoever wrote one that is refused. An empty one would let nobody in.
  static let need =
    "needs a list of 1 to \(QuietLimit.netmasksMax) addresses or networks, such as 10.0.0.0/8 or 2001:db8::/32;"
    + " leave it out where everybody may ask"
}
