#include "nng/compat/nanomsg/nn.h"
