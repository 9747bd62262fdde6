/// Where the house's order is broken, and what to do about it.
struct Finding: CustomStringConvertible {
  let path: String
  let line: Int
  let advice: String

  var description: String { "\(path):\(line): \(advice)" }
}
