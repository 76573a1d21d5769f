// other_names.h: classes of the library under the names that they have elsewhere.
#ifndef MDLC_FRONTEND_TEXT_OTHER_NAMES_H
#define MDLC_FRONTEND_TEXT_OTHER_NAMES_H

// The class of the library's package that users of the Modelica Standard Library know as `name`, or NULL.
const char *other_name(const char *package, const char *name);

#endif
