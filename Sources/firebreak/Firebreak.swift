@main struct Firebreak { static func main() {} }
