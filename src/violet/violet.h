#pragma once

// Everything that programs on violet need: routes and what handlers take and return, the App, tasks that wait, the test
// client. Only thin headers stand here.

#include "violet/app/app.h"
#include "violet/app/test_client.h"
#include "violet/data/rule/checked.h"
#include "violet/event/wait.h"
#include "violet/features/compress/compress.h"
#include "violet/features/compress/decompress.h"
#include "violet/features/files/files.h"
#include "violet/features/websocket/websocket.h"
#include "violet/json/writer.h"
#include "violet/web/content/context.h"
#include "violet/web/content/event_stream.h"
#include "violet/web/content/form.h"
#include "violet/web/content/json.h"
#include "violet/web/content/replies.h"
#include "violet/web/error_pages.h"
#include "violet/web/input/body.h"
#include "violet/web/input/fields.h"
#include "violet/web/input/path.h"
#include "violet/web/input/query.h"
#include "violet/web/middleware.h"
#include "violet/web/output/file.h"
#include "violet/web/output/generator.h"
#include "violet/web/output/reply.h"
#include "violet/web/router.h"
