#include "nng/supplemental/http/http.h"
#include "nng/supplemental/util/options.h"
#include "nng/supplemental/util/platform.h"
#include "nng/supplemental/tls/tls.h"
