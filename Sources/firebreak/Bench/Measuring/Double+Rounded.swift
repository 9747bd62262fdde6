extension Double {
  /// To so many decimal places: a figure does not pretend to be more exact than its clock.
  func rounded(to places: Int) -> Double {
    let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
    return (self * scale).rounded() / scale
  }
}
