versions: {webd: '1.1', tool: '1.0'}
