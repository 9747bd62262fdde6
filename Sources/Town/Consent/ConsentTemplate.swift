/// The page: one question, two buttons, no script, nothing from elsewhere.
enum ConsentTemplate {
  static let page = """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>{{title}}</title>
    <style>
    body { font: 18px/1.5 system-ui, sans-serif; max-width: 32em; margin: 3em auto; padding: 0 1em; color: #1c2430 }
    section { border: 1px solid #c9d1dc; border-radius: 12px; padding: 1.5em }
    .app { color: #56637a; overflow-wrap: anywhere }
    p { overflow-wrap: anywhere }
    button { font: inherit; padding: .5em 1.6em; border-radius: 8px; border: 1px solid #1f5fbf; margin-right: .8em }
    button[value=yes] { background: #1f5fbf; color: white }
    button[value=no] { background: white; color: #1f5fbf }
    </style>
    </head>
    <body>
    <h1>{{title}}</h1>
    <section>
    {{#question}}
    <p class="app">{{app}} asks to:</p>
    <p>{{sentence}}</p>
    <form method="post">
    <input type="hidden" name="question" value="{{id}}">
    <button name="answer" value="yes">Allow</button>
    <button name="answer" value="no">Do not allow</button>
    </form>
    {{/question}}
    {{^question}}
    <p>Nothing is asked. This page looks again every two seconds.</p>
    <meta http-equiv="refresh" content="2">
    {{/question}}
    </section>
    </body>
    </html>
    """
}
